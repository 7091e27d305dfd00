import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Running, type Shot, TENANTS } from './contender.ts'
import { cpuOf, idle, rssOf } from './usage.ts'

/** One run of one operation. */
export interface Reading {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly cpuPerRequest: number
  readonly rss: number
  /** Requests that were refused or not answered. The other figures do not count them as answers. */
  readonly errors: number
}

let serial = 0

/** Fires an operation for some seconds with wrk, and reads what it cost. */
export function fire(running: Running, shot: Shot, seconds: number, connections: number): Promise<Reading> {
  return fireMix(running, [{ shot, share: 1 }], seconds, connections)
}

/** A part of a mix: how often an operation is drawn. The shares of a mix add up to one. */
interface Part {
  readonly shot: Shot
  readonly share: number
}

/** Fires a mix of operations for some seconds with wrk, and reads what it cost. */
export async function fireMix(
  running: Running,
  mix: readonly Part[],
  seconds: number,
  connections: number,
): Promise<Reading> {
  for (const { shot } of mix) await checkAnswer(running, shot)
  const script = join(tmpdir(), `tildebase-bench-${process.pid}-${++serial}.lua`)
  writeFileSync(script, lua(mix, serial))
  const before = cpuOf(running)
  const { requests, text } = await wrk([
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--latency',
    '--timeout',
    '20s',
    '-s',
    script,
    running.url,
  ])
  await idle(running)
  const cpu = cpuOf(running) - before
  for (const { shot } of mix) await checkAnswer(running, shot)
  const refused = Number(/Non-2xx or 3xx responses: (\d+)/.exec(text)?.[1] ?? 0)
  const answers = requests - refused
  return {
    perSecond: (Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1] ?? 0) * answers) / requests,
    p50: latency(/\s50%\s+([\d.]+)(us|ms|s)/.exec(text)),
    p99: latency(/\s99%\s+([\d.]+)(us|ms|s)/.exec(text)),
    // When wrk ends, each connection has one request left that costs time without being counted.
    cpuPerRequest: (cpu / (answers + connections)) * 1_000,
    rss: rssOf(running),
    errors: refused + socketErrorsIn(text),
  }
}

const WARM_REQUESTS = 1_500
const WARM_MILLISECONDS = 8_000

/** How every contender is prepared for a measurement, as a text. */
export const WARM_UP = `a warm-up of ${WARM_REQUESTS} requests, or ${WARM_MILLISECONDS / 1_000} s if they take longer`

/** Fires a mix until its code is compiled. A slow contender needs more time for that than a fast one. */
export async function warmUp(running: Running, mix: readonly Part[], connections: number): Promise<void> {
  const end = Date.now() + WARM_MILLISECONDS
  for (let answers = 0; answers < WARM_REQUESTS && Date.now() < end; )
    answers += (await fireMix(running, mix, 2, connections)).perSecond * 2
}

/** Requests without an answer: a connection that failed, or no answer in time. */
function socketErrorsIn(text: string): number {
  const line = /Socket errors:(.*)/.exec(text)?.[1] ?? ''
  return (line.match(/\d+/g) ?? []).reduce((sum, count) => sum + Number(count), 0)
}

/** Sends one request before and after a run, and throws when the answer is not the expected one. */
async function checkAnswer({ url }: Running, shot: Shot): Promise<void> {
  const { method, paths, headers, persons } = shot
  const drawn = Math.floor(Math.random() * paths.length)
  const path = paths[drawn]!
  const body = shot.bodies?.[drawn] ?? shot.body
  const number = String(Date.now() * 100 + (++serial % 100))
  const response = await fetch(`${url}${path}`, {
    method,
    headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
    body: body?.replaceAll('{i}', number).replaceAll('{t}', '0') ?? null,
    redirect: 'manual',
  })
  const text = await response.text()
  const answered = `${method} ${path} was answered with ${response.status}: ${text.slice(0, 300)}`
  if (!response.ok) throw new Error(answered)
  if (persons === undefined) return
  const found = text.split('"email":').length - 1
  if (found !== persons) throw new Error(`${found} persons instead of ${persons}: ${answered}`)
  if (body?.includes('{i}') && !text.includes(number)) throw new Error(`${number} is missing: ${answered}`)
}

function wrk(args: readonly string[]): Promise<{ requests: number; text: string }> {
  return new Promise((done, failed) => {
    const child = spawn('wrk', [...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    let text = ''
    child.stdout.on('data', (chunk) => {
      text += chunk
    })
    child.stderr.on('data', (chunk) => {
      text += chunk
    })
    child.on('error', () => failed(new Error('wrk is not installed: apt-get install wrk')))
    child.on('close', () => {
      // wrk continues without a script that it cannot read, and would measure something else.
      const fault = /^.*\.lua:.*$/m.exec(text)
      const requests = Number(/(\d+) requests in/.exec(text)?.[1] ?? 0)
      if (fault) failed(new Error(`wrk cannot run the script: ${fault[0]}`))
      else if (requests === 0) failed(new Error(`wrk completed no request. ${text.slice(0, 300)}`.trim()))
      else done({ requests, text })
    })
  })
}

function lua(mix: readonly Part[], run: number): string {
  const quoted = (text: string) => `[==[${text}]==]`
  let sum = 0
  const shots = mix.map(({ shot: { method, paths, body, bodies, headers }, share }) => {
    const hasBody = body !== undefined || bodies !== undefined
    const all = Object.entries({ ...headers, ...(hasBody && { 'Content-Type': 'application/json' }) })
    sum += share
    return `{ below = ${sum}, method = ${quoted(method)}, paths = {${paths.map(quoted).join(',')}},
      body = ${body === undefined ? 'nil' : quoted(body)},
      bodies = ${bodies === undefined ? 'nil' : `{${bodies.map(quoted).join(',')}}`},
      headers = {${all.map(([name, value]) => `[ ${quoted(name)} ] = ${quoted(value)}`).join(',')}} }`
  })
  return `
    local shots = {${shots.join(',')}}
    local i = 0
    math.randomseed(os.time() + ${run})
    local base = ${run} * 100000000 + math.random(1000000) * 10
    function request()
      i = i + 1
      local drawn, shot = math.random(), shots[#shots]
      for _, one in ipairs(shots) do if drawn < one.below then shot = one break end end
      local sent = shot.body and string.gsub(shot.body, "{i}", tostring(base + i))
      if sent then sent = string.gsub(sent, "{t}", tostring(math.random(0, ${TENANTS - 1}))) end
      local at = math.random(#shot.paths)
      return wrk.format(shot.method, shot.paths[at], shot.headers, shot.bodies and shot.bodies[at] or sent)
    end`
}

function latency(found: RegExpExecArray | null): number {
  const [, amount, unit] = found ?? []
  return amount === undefined ? 0 : Number(amount) * { us: 0.001, ms: 1, s: 1_000 }[unit as 'us' | 'ms' | 's']
}
