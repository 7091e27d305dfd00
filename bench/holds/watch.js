// Loaded into a service with `--import`: writes down for how long each thread of tenants was held.
import { appendFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { threadName } from 'node:worker_threads'

const FILE = process.env.BENCH_HOLDS
/** Shorter ones are of no interest. */
const LEAST_MS = 5
const EVERY_MS = 1
/** Longer ones are shown with the stacks of the thread, if BENCH_PROFILE is set. */
const TOLD_MS = 50
const MOST_FRAMES = 14

if (threadName.startsWith('tenants')) watch(process.env.BENCH_PROFILE ? startProfiler() : null)

/** A timer that is due at every turn of the event loop: what the thread computed between two of them was one hold. */
function watch(profiler) {
  let last = now()
  const look = () => {
    const next = now()
    const [wall, cpu] = [next.wall - last.wall - EVERY_MS, next.cpu - last.cpu]
    if (Math.max(wall, cpu) >= LEAST_MS) appendFileSync(FILE, `${JSON.stringify({ at: Date.now(), wall, cpu })}\n`)
    if (profiler && cpu >= TOLD_MS) process.stderr.write(`${Math.round(cpu)} ms: ${profiler(wall)}\n`)
    last = now()
    setTimeout(look, EVERY_MS).unref()
  }
  look()
}

function now() {
  const { user, system } = process.threadCpuUsage()
  return { wall: performance.now(), cpu: (user + system) / 1_000 }
}

/** Tells the stack that most samples of the last milliseconds share. */
function startProfiler() {
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.setSamplingInterval', { interval: 2_000 })
  session.post('Profiler.start')
  return (ms) => {
    let told = ''
    session.post('Profiler.stop', (_, { profile }) => {
      told = mostCommon(profile, ms)
    })
    session.post('Profiler.start')
    return told
  }
}

function mostCommon({ nodes, samples, timeDeltas }, ms) {
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])))
  const names = new Map(nodes.map(({ id, callFrame: { functionName } }) => [id, functionName]))
  const counts = new Map()
  for (let i = samples.length - 1, left = ms * 1_000; i >= 0 && left > 0; left -= timeDeltas[i--]) {
    const stack = []
    for (let id = samples[i]; id !== undefined; id = parents.get(id)) stack.push(names.get(id) || '(anonymous)')
    const text = stack.slice(0, MOST_FRAMES).join(' < ')
    counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  const most = [...counts].toSorted(([, a], [, b]) => b - a).slice(0, 3)
  return most.map(([stack, count]) => `${count}× ${stack}`).join(' | ')
}
