import { existsSync } from 'node:fs'
import { Problem } from '@tildebase/client'
import { readSettings, startHost } from '@tildebase/server'
import type { Call, Command } from '../command.ts'
import { startFailure } from '../failure.ts'
import { readFolder } from '../folder/files.ts'
import { applyPlan, planFor, planLines } from '../folder/plan.ts'
import { FOLDER, folderOf, writeTypes } from '../folder/push.ts'
import { watchFolder } from '../folder/watch.ts'
import { type Link, linkTo } from '../link/link.ts'
import { cell } from '../output/cell.ts'
import { someWords } from '../output/words.ts'
import { UsageError } from '../parse/usage-error.ts'

/** Editors write a file in several steps. */
const PAUSE_MS = 100
const TENANT = 'dev'

export const command: Command = {
  usage: 'dev [--folder FOLDER]',
  summary: 'serves a project: pushes its folder, and pushes it again whenever a file changes',
  flags: {
    folder: { type: 'string', help: `the folder of the declarations; default ./${FOLDER}` },
    port: { type: 'string', help: 'the port to listen on (TILDE_PORT; 8787)' },
    data: { type: 'string', help: 'the data folder (TILDE_DATA; ./data)' },
  },
  examples: ['tilde dev', 'tilde dev --tenant acme --port 9000'],
  async run(call) {
    someWords(call, [])
    const { flags, settings, out } = call
    const folder = folderOf(call)
    if (!existsSync(folder)) throw new UsageError(`There is no folder ${folder}. Make a project: tilde init NAME`)
    // Receivers of webhooks on this machine are reached.
    const env = { TILDE_WEBHOOKS_INSECURE: '1', ...process.env }
    const given = { port: flags.text('port'), data: flags.text('data') }
    const host = await startHost(readSettings(given, env)).catch((reason) => {
      throw startFailure(reason)
    })
    const tenant = flags.text('tenant') ?? (process.env.TILDE_TENANT || TENANT)
    const link = linkTo({ ...settings, url: host.url, key: host.operator.key, tenant })
    out.line(`Tildebase listens on ${host.url}`)
    out.line(`Console: ${host.url}/console   API: ${host.url}/docs   Tenant: ${tenant}`)
    out.line(`Key: ${host.operator.path === null ? '$TILDE_ROOT_KEY' : `in ${host.operator.path}`}`)
    await pushed(call, link, folder)
    out.line(`Watching ${folder}`)
    const stop = followed(folder, () => pushed(call, link, folder))
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        stop()
        void host.stop().then(() => process.exit(0))
      })
    }
  },
}

/** Pushes the folder unless something would be lost. A fault is shown, and the next change is awaited. */
async function pushed({ out }: Call, link: Link, folder: string): Promise<void> {
  try {
    const { declaration } = await readFolder(folder)
    const plan = await planFor(link, declaration)
    for (const line of planLines(plan)) out.line(line)
    if (plan.loses > 0) {
      out.line('Nothing was changed: something would be lost. To confirm: tilde schema push --yes')
      return
    }
    await applyPlan(link, plan, declaration, ({ name }, answer) => {
      if (typeof answer?.secret === 'string') out.line(`The secret of ${name}, shown only once: ${answer.secret}`)
    })
    await writeTypes(link, folder)
  } catch (reason) {
    if (!(reason instanceof Problem) && !(reason instanceof Error)) throw reason
    process.stderr.write(`tilde: ${cell(reason.message)}\n`)
  }
}

/** Calls `work` after each change of a folder, never twice at once. Returns how to stop it. */
function followed(folder: string, work: () => Promise<void>): () => void {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  const stop = watchFolder(folder, (file) => {
    // The command itself writes the declarations for TypeScript.
    if (file.endsWith('.d.ts')) return
    clearTimeout(timer)
    timer = setTimeout(() => {
      running = running.then(work)
    }, PAUSE_MS)
  })
  return () => {
    clearTimeout(timer)
    stop()
  }
}
