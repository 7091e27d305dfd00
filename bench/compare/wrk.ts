import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Running, type Shot, TENANTS } from './contender.ts'

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
  const cpu = cpuOf(running) - before
  await idle(running)
  for (const { shot } of mix) await checkAnswer(running, shot)
  const refused = Number(/Non-2xx or 3xx responses: (\d+)/.exec(text)?.[1] ?? 0)
  const answers = requests - refused
  return {
    perSecond: (Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1] ?? 0) * answers) / requests,
    p50: latency(/\s50%\s+([\d.]+)(us|ms|s)/.exec(text)),
    p99: latency(/\s99%\s+([\d.]+)(us|ms|s)/.exec(text)),
    cpuPerRequest: answers === 0 ? 0 : (cpu / answers) * 1_000,
    rss: rssOf(running),
    errors: refused + socketErrorsIn(text),
  }
}

/** Waits until the contender has finished the requests that wrk left behind, which would burden the next run. */
async function idle(running: Running): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const before = cpuOf(running)
    await new Promise((later) => setTimeout(later, 100))
    if (cpuOf(running) - before < 0.02) return
  }
}

/** Requests without an answer: a connection that failed, or no answer in time. */
function socketErrorsIn(text: string): number {
  const line = /Socket errors:(.*)/.exec(text)?.[1] ?? ''
  return (line.match(/\d+/g) ?? []).reduce((sum, count) => sum + Number(count), 0)
}

/** Sends one request before and after a run, and throws when the answer is not the expected one. */
async function checkAnswer({ url }: Running, { method, paths, body, headers, persons }: Shot): Promise<void> {
  const path = paths[Math.floor(Math.random() * paths.length)]!
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
  const shots = mix.map(({ shot: { method, paths, body, headers }, share }) => {
    const all = Object.entries({ ...headers, ...(body !== undefined && { 'Content-Type': 'application/json' }) })
    sum += share
    return `{ below = ${sum}, method = ${quoted(method)}, paths = {${paths.map(quoted).join(',')}},
      body = ${body === undefined ? 'nil' : quoted(body)},
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
      return wrk.format(shot.method, shot.paths[math.random(#shot.paths)], shot.headers, sent)
    end`
}

function latency(found: RegExpExecArray | null): number {
  const [, amount, unit] = found ?? []
  return amount === undefined ? 0 : Number(amount) * { us: 0.001, ms: 1, s: 1_000 }[unit as 'us' | 'ms' | 's']
}

/** Seconds of processor time that the contender has used, its children and its database included. */
function cpuOf(running: Running): number {
  const tick = 100
  return family(running).reduce((sum, pid) => {
    const fields = statOf(pid)
    return fields === null ? sum : sum + (Number(fields[11]) + Number(fields[12])) / tick
  }, 0)
}

function rssOf(running: Running): number {
  return family(running).reduce((sum, pid) => sum + Number(statOf(pid)?.[21] ?? 0) * 4_096, 0)
}

function family({ process: { pid }, pids }: Running): number[] {
  const roots = [pid!, ...(pids?.() ?? [])]
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc'))
    if (/^\d+$/.test(name)) parents.set(Number(name), Number(statOf(Number(name))?.[1] ?? 0))
  const found = new Set(roots)
  for (let grown = true; grown; ) {
    grown = false
    for (const [child, parent] of parents) if (found.has(parent) && !found.has(child)) grown = !!found.add(child)
  }
  return [...found]
}

/** The fields of /proc/pid/stat after the name, which may hold spaces. */
function statOf(pid: number): string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return null
  }
}
