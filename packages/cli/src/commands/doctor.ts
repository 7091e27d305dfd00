import { statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Call, Command } from '../command.ts'
import { failureOf } from '../failure.ts'
import { linkTo } from '../link/link.ts'
import { someWords } from '../output/words.ts'

/** What the packages need. The sources need a newer one, without which the command does not start. */
const OLDEST_NODE = '22.18'
const MOST_SKEW_MS = 30_000
const LEAST_FREE = 1_000_000_000

/** What was checked, and the result. */
type Finding = { readonly check: string; readonly state: 'ok' | 'warning' | 'wrong'; readonly finding: string }

export const command: Command = {
  usage: 'doctor',
  summary: 'checks this machine, the service and the key, and reports problems',
  flags: { data: { type: 'string', help: 'the data folder to check (TILDE_DATA; ./data)' } },
  examples: ['tilde doctor', 'tilde doctor --url https://tilde.example'],
  async run(call) {
    someWords(call, [])
    const server = await serverFindings(call)
    const findings = [
      nodeFinding(),
      ...server,
      ...(server[0]?.state === 'ok' ? [await keyFinding(call)] : []),
      await diskFinding(call),
    ]
    call.out.list(findings, ['check', 'state', 'finding'], findings)
    if (findings.some(({ state }) => state === 'wrong')) process.exitCode = 2
  },
}

function nodeFinding(): Finding {
  const right = process.versions.node.localeCompare(OLDEST_NODE, 'en', { numeric: true }) >= 0
  return {
    check: 'node',
    state: right ? 'ok' : 'wrong',
    finding: `${process.version}; ${OLDEST_NODE} or newer is needed`,
  }
}

async function serverFindings({ settings }: Call): Promise<Finding[]> {
  const before = Date.now()
  let response: Response
  try {
    response = await fetch(`${settings.url}/readyz`, { signal: AbortSignal.timeout(10_000) })
    await response.body?.cancel()
  } catch (reason) {
    const { cause, message } = reason as Error & { cause?: { code?: string } }
    const finding = `${settings.url} cannot be reached (${cause?.code ?? message}). Start one: tilde serve`
    return [{ check: 'server', state: 'wrong', finding }]
  }
  const took = Date.now() - before
  const server: Finding = response.ok
    ? { check: 'server', state: 'ok', finding: `${settings.url} is ready, ${took} ms away` }
    : { check: 'server', state: 'wrong', finding: `${settings.url} returns ${response.status}: it is not ready` }
  const told = Date.parse(response.headers.get('date') ?? '')
  if (Number.isNaN(told)) return [server]
  // The header has whole seconds: half a second is added for the missing fraction.
  const skew = told + 500 - (before + took / 2)
  const finding = `the clocks differ by ${Math.round(Math.abs(skew) / 1_000)} s`
  return [server, { check: 'clock', state: Math.abs(skew) > MOST_SKEW_MS ? 'warning' : 'ok', finding }]
}

async function keyFinding({ settings }: Call): Promise<Finding> {
  try {
    const { total } = await linkTo(settings).$.schema()
    return { check: 'key', state: 'ok', finding: `valid for ${settings.tenant}, which has ${total} types` }
  } catch (reason) {
    return { check: 'key', state: 'wrong', finding: failureOf(reason).sentence }
  }
}

async function diskFinding({ flags }: Call): Promise<Finding> {
  const data = resolve(flags.text('data') ?? (process.env.TILDE_DATA || './data'))
  const { bavail, bsize } = await statfs(data).catch(() => statfs(dirname(data)))
  const free = bavail * bsize
  const state = free < LEAST_FREE ? 'warning' : 'ok'
  return { check: 'disk', state, finding: `${(free / 1e9).toFixed(1)} GB are free for ${data}` }
}
