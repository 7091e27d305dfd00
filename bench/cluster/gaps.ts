import { setTimeout as pause } from 'node:timers/promises'
import { type Node, ownerOf, send } from './nodes.ts'

/** The longest time in milliseconds between two acknowledged writes of a tenant while something happens. */
export async function gapOf(tenant: string, via: Node, work: (owner: string) => Promise<void>): Promise<number> {
  const times: number[] = [performance.now()]
  let isOver = false
  const client = async (number: number) => {
    for (let i = 0; !isOver; i++) {
      const reply = await send(via.port, 'POST', `/~${tenant}/Contact`, { name: `${number}-${i}` }).catch(() => null)
      if (reply?.status === 201) times.push(performance.now())
      else await pause(10)
    }
  }
  const clients = Promise.all([0, 1, 2, 3].map(client))
  await pause(1_000)
  const begun = performance.now()
  await work(await ownerOf(via.port, tenant))
  // Until it has been answered for a while, or for too long.
  for (let answered = times.length; times.length < answered + 200 && performance.now() < begun + 60_000; )
    await pause(20)
  isOver = true
  await clients
  return times.slice(1).reduce((longest, time, i) => Math.max(longest, time - times[i]!), 0)
}
