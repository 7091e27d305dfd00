import { readFileSync } from 'node:fs'
import { tildebase } from '../compare/tildebase.ts'
import { demandTools, WRK } from '../compare/tools.ts'
import { fire } from '../compare/wrk.ts'
import { median, print } from './figure.ts'

const ROWS = Number(process.env.BENCH_ROWS ?? 100_000)
const TIMES = 15
const WORDS = ['ada', 'grace', 'alan', 'edsger', 'barbara', 'donald', 'margaret', 'linus', 'radia', 'tim']

/** Searches for common words, and scans of a field without an index. */
export async function queries(): Promise<void> {
  demandTools(WRK)
  const running = await tildebase(0).start(ROWS)
  try {
    const { headers } = running.shots.text!
    const pairs = WORDS.flatMap((a, i) => WORDS.slice(i + 1).map((b) => `${a} ${b}`))
    const find = (filter: object) => `/~bench/Person?filter=${encodeURIComponent(JSON.stringify(filter))}`
    const shot = { method: 'GET', headers, paths: pairs.map((words) => find({ $text: words })) } as const
    await fire(running, shot, 2, 16)
    const text = await fire(running, shot, 4, 16)
    const goal = { text: `\`$text\` of two common words with total, ${ROWS} rows`, unit: '/s', atLeast: 500 }
    print(goal, text.perSecond, `${(text.cpuPerRequest * 1_000).toFixed(0)} µs of CPU time each`)

    // A write makes the totals and orders of its type old.
    const fresh = JSON.stringify({ name: 'Fresh', email: 'fresh{i}@example.org' })
    const ask = (path: string, body?: string) =>
      fetch(`${running.url}${path}`, {
        headers: { ...headers, 'content-type': 'application/json' },
        ...(body && { method: 'POST', body }),
      }).then((answer) => answer.text())
    let i = 0
    const measure = async (path: () => string) => {
      const times: number[] = []
      const used: number[] = []
      for (let round = -3; round < TIMES; round++) {
        await ask('/~bench/Person', fresh.replace('{i}', `-${++i}-${Date.now()}`))
        await new Promise((done) => setTimeout(done, 30))
        const before = cpuOf(running.process.pid!)
        const begun = performance.now()
        const answer = JSON.parse(await ask(path()))
        if (answer.error) throw new Error(JSON.stringify(answer.error))
        if (round >= 0) times.push(performance.now() - begun)
        if (round >= 0) used.push(cpuOf(running.process.pid!) - before)
      }
      return [median(times), `${(used.reduce((a, b) => a + b, 0) / used.length).toFixed(0)} ms of CPU time`] as const
    }
    print(
      { text: 'the same, the first after a write', unit: 'ms', atMost: 20 },
      ...(await measure(() => shot.paths[i % shot.paths.length]!)),
    )
    print(
      { text: 'equality without an index, none found', unit: 'ms', atMost: 60 },
      ...(await measure(() => find({ notes: `x${i}` }))),
    )
    print(
      { text: '`$regex`, none found', unit: 'ms', atMost: 120 },
      ...(await measure(() => find({ name: { $regex: `word${i}` } }))),
    )
    print(
      { text: '`$regex` `(a+)+$`, few found', unit: 'ms', atMost: 120 },
      ...(await measure(() => find({ name: { $regex: `(a+)+${i}$` } }))),
    )
  } finally {
    await running.stop()
  }
}

function cpuOf(pid: number): number {
  const ticks = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(ticks[11]) + Number(ticks[12])) * 10
}
