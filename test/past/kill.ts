import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { tildebase } from '@tildebase/client'
import { KEY, startServer } from '../faults/server.ts'
import { type HubspotRecord, hubspotFake, startFake } from './fakes.ts'

const MAIN = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))

const CHANGES = 6_000

/** A past of a sixth as many contacts, with references to organizations. */
function* changes() {
  for (let i = 0; i < CHANGES; i++) {
    const timestamp = new Date(Date.UTC(2020, 0, 1) + Math.floor(i / 3) * 60_000).toISOString()
    const n = i % 1_000
    if (i < 1_000 && n % 10 === 0) {
      yield { type: 'Organization', source: `o:${n}`, verb: 'create', timestamp, data: { name: `O${n}` } }
    } else if (i < 1_000) {
      const organization = { source: `o:${n - (n % 10)}` }
      yield { type: 'Contact', source: `c:${n}`, verb: 'create', timestamp, data: { name: `C${n}`, organization } }
    } else if (n % 10 !== 0) {
      yield { type: 'Contact', source: `c:${n}`, verb: 'update', timestamp, data: { phone: String(i) } }
    }
  }
}

/** All events of a tenant, without what chance and the real time decide. */
async function storyOf(url: string, tenant = 'acme'): Promise<string[]> {
  const client = tildebase({ baseUrl: url, tenant, apiKey: KEY })
  const story: string[] = []
  for (let cursor = '0', hasMore = true; hasMore; ) {
    const page = await client.request('GET', '/events', { query: { limit: 1_000, cursor } })
    for (const { type, timestamp, version, data } of page.results) {
      story.push(JSON.stringify([type, timestamp, version, data.$source, data.name, data.phone ?? null]))
    }
    cursor = page.cursor
    hasMore = page.hasMore
  }
  return story
}

/**
 * Kills a server with kill -9 at random points of an import, repeats the import until it ends, and compares the events with
 * those of an import that was not interrupted. A last run must write nothing. Returns what is wrong, and how many kills
 * came before the end of the import.
 */
export async function killRuns(kills: number, seed = 1): Promise<{ wrong: string[]; interrupted: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'tilde-past-'))
  const wrong: string[] = []
  let interrupted = 0
  const chance = chances(seed)
  const send = (url: string) =>
    tildebase({ baseUrl: url, tenant: 'acme', apiKey: KEY, retries: 0 }).importHistory(changes(), {
      most: 500,
      failures: 0,
    })
  try {
    const calm = await startServer(join(folder, 'calm'))
    const begun = performance.now()
    await send(calm.url)
    const whole = performance.now() - begun
    const expected = await storyOf(calm.url)
    await calm.kill()
    for (let done = 0; done < kills; ) {
      const data = join(folder, `run-${done}`)
      for (let turn = 0; turn < 4 && done < kills; turn++, done++) {
        const server = await startServer(data)
        const run = send(server.url).then(
          () => true,
          () => false,
        )
        await Promise.race([run, new Promise((ready) => setTimeout(ready, chance() * whole))])
        await server.kill()
        if (!(await run)) interrupted++
      }
      const server = await startServer(data)
      const report = await send(server.url)
      const again = await send(server.url)
      const story = await storyOf(server.url)
      await server.kill()
      if (report.errors > 0) wrong.push(`run ${done}: ${JSON.stringify(report.details[0])}`)
      if (again.imported > 0 || again.errors > 0) wrong.push(`run ${done}: a second run wrote ${again.imported} events`)
      if (JSON.stringify(story) !== JSON.stringify(expected))
        wrong.push(`run ${done}: ${story.length} events, not ${expected.length}, or others`)
      rmSync(data, { recursive: true })
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return { wrong, interrupted }
}

/** An account of HubSpot with six thousand past values. */
function account(): { [object: string]: HubspotRecord[] } {
  const day = (n: number) => new Date(Date.UTC(2020, 0, 1) + n * 86_400_000).toISOString()
  const contacts = Array.from({ length: 100 }, (_, i) => ({
    id: String(100 + i),
    createdAt: day(i),
    updatedAt: day(i + 60),
    propertiesWithHistory: {
      firstname: [{ value: `C${i}`, timestamp: day(i) }],
      phone: Array.from({ length: 60 }, (_, n) => ({ value: String(n), timestamp: day(i + n) })).reverse(),
    },
  }))
  return { companies: [], contacts, deals: [], tickets: [] }
}

/**
 * Kills `tilde import hubspot` at random points, while it asks, sorts or sends, and repeats it with its spool until it
 * ends. The events must be those of a run that was not killed, and one more run must write nothing.
 */
export async function killImports(kills: number, seed = 1): Promise<{ wrong: string[]; interrupted: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'tilde-spool-'))
  const chance = chances(seed)
  const wrong: string[] = []
  let interrupted = 0
  const fake = await startFake(hubspotFake(account()), () => null)
  const server = await startServer(join(folder, 'data'))
  const begin = (tenant: string) => {
    const flags = ['--api-url', fake.url, '--token', 'hub-token', '--spool', join(folder, tenant), '--json']
    const child = spawn(process.execPath, [MAIN, 'import', 'hubspot', ...flags], {
      env: { ...process.env, TILDE_URL: server.url, TILDE_TENANT: tenant, TILDE_ROOT_KEY: KEY },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    return { child, answer: text(child.stdout), ended: once(child, 'exit') }
  }
  const imported = async (tenant: string) => JSON.parse(await begin(tenant).answer)
  try {
    const begun = performance.now()
    await imported('calm')
    const whole = performance.now() - begun
    const expected = JSON.stringify(await storyOf(server.url, 'calm'))
    for (let done = 0, run = 0; done < kills; run++) {
      const tenant = `run-${run}`
      for (let turn = 0; turn < 4 && done < kills; turn++, done++) {
        const { child, ended } = begin(tenant)
        await Promise.race([ended, new Promise((ready) => setTimeout(ready, chance() * whole))])
        if (child.kill('SIGKILL')) interrupted++
        await ended
      }
      const report = await imported(tenant)
      const again = await imported(tenant)
      if (report.errors > 0) wrong.push(`${tenant}: ${JSON.stringify(report.details[0])}`)
      if (again.imported > 0 || again.errors > 0) wrong.push(`${tenant}: a second run wrote ${again.imported} events`)
      if (JSON.stringify(await storyOf(server.url, tenant)) !== expected) wrong.push(`${tenant}: other events`)
    }
  } finally {
    await server.kill()
    await fake.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  return { wrong, interrupted }
}

/** Numbers from 0 to 1 that a seed decides. */
function chances(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const kills = Number(process.argv[2] ?? 100)
  for (const [what, run] of [
    ['the server', killRuns],
    ['tilde import', killImports],
  ] as const) {
    const { wrong, interrupted } = await run(kills)
    const result = wrong.length === 0 ? 'nothing wrong' : wrong.join('\n')
    process.stdout.write(`${kills} kills of ${what}, ${interrupted} of them before the end of the import: ${result}\n`)
    if (wrong.length > 0) process.exitCode = 1
  }
}
