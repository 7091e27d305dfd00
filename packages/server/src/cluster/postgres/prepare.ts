import { SettingError } from '../../host/settings/setting-error.ts'
import type { Database } from './database.ts'
import { HAS_TABLES, LOCK, SET_VERSION, UNLOCK, VERSION } from './statements.ts'
import { MIGRATIONS, TABLES, TABLES_VERSION } from './tables.ts'

/** Milliseconds that a change of the tables may take, or that another node is waited for which makes it. */
const LONGEST = 600_000

/** Makes the tables where they are not there, and brings older ones forward. Nodes that start at once do so in turns. */
export async function prepareTables(database: Database): Promise<void> {
  if ((await versionOf(database)) === TABLES_VERSION) return
  const run = (text: string) => database.query(text, [], LONGEST)
  await run(LOCK)
  try {
    const version = await versionOf(database)
    if (version === 0) for (const text of TABLES) await run(text)
    else
      for (let next = version + 1; next <= TABLES_VERSION; next++) for (const text of MIGRATIONS[next]!) await run(text)
    await database.query(SET_VERSION, [String(TABLES_VERSION)])
  } finally {
    await run(UNLOCK)
  }
}

/** The version of the tables; 0 when there are none. */
async function versionOf(database: Database): Promise<number> {
  if ((await database.query(HAS_TABLES)).length === 0) return 0
  const [row] = await database.query(VERSION)
  const version = Number(row?.value ?? 1)
  if (version <= TABLES_VERSION) return version
  throw new SettingError(
    `The tables of the cluster have version ${version}, and this node knows ${TABLES_VERSION} at most. Start a newer version of it.`,
  )
}
