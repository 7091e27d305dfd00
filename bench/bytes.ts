import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { localTildebase } from '@tildebase/server'

/** How many bytes of file a small contact takes, and each further version of it. Run it with `npm run bench -- bytes [contacts]`. */
const CONTACTS = Number(process.argv[2] ?? 10_000)
const AT_ONCE = 64
const FIRST = ['Ada', 'Grace', 'Alan', 'Edsger', 'Barbara', 'Donald', 'Margaret', 'Linus', 'Radia', 'Tim']
const LAST = ['Lovelace', 'Hopper', 'Turing', 'Dijkstra', 'Liskov', 'Knuth', 'Hamilton', 'Torvalds', 'Perlman', 'Lee']

const path = mkdtempSync(join(tmpdir(), 'tildebase-bench-'))
const ids: string[] = []
const first = await sizeAfter(async (send) => void (await send('POST', '/Contact', contact(CONTACTS))))
const created = await sizeAfter((send) =>
  atOnce(async (i) => void ids.push((await send('POST', '/Contact', contact(i))).$id)),
)
const changed = await sizeAfter((send) => atOnce((i) => send('PUT', `/Contact/${ids[i]}`, { score: i + 1 })))
console.log(`${CONTACTS} contacts of six fields, ${JSON.stringify(contact(1)).length} bytes of JSON each`)
console.log(`${((created - first) / CONTACTS).toFixed(0)} bytes of file per contact`)
console.log(`${((changed - created) / CONTACTS).toFixed(0)} bytes of file per further version`)
rmSync(path, { recursive: true })

function contact(i: number) {
  const [first, last] = [FIRST[i % 10]!, LAST[Math.floor(i / 10) % 10]!]
  return {
    name: `${first} ${last} ${i}`,
    email: `${first}.${last}.${i}@example.org`.toLowerCase(),
    phone: `+49 30 ${100_000 + i}`,
    title: 'Engineer',
    score: 0,
    notes: `Met at conference ${i % 37}, asked about a plan`,
  }
}

async function atOnce(work: (i: number) => Promise<void>): Promise<void> {
  let next = 0
  const one = async () => {
    for (let i = next++; i < CONTACTS; i = next++) await work(i)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, one))
}

/** The size of the tenant's file after some work, once all indexes are folded and the file is closed. */
async function sizeAfter(
  work: (send: (method: string, to: string, body?: object) => Promise<any>) => Promise<void>,
): Promise<number> {
  const service = await localTildebase({ path, tenant: 'bench' })
  const send = async (method: string, to: string, body?: object) => {
    const headers = { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' }
    const url = `http://localhost:8787/~bench${to}`
    const answer = await service.fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    if (!answer.ok) throw new Error(`${to}: ${await answer.text()}`)
    return answer.json()
  }
  await work(send)
  // A search folds the words, and a question about the past the versions.
  await send('GET', `/Contact?limit=1&filter=${encodeURIComponent('{"$text":"engineer"}')}`)
  await send('GET', '/Contact?limit=1&asOf=1')
  await service.close()
  const file = readdirSync(path, { recursive: true, encoding: 'utf8' }).find((name) => name.endsWith('bench.db'))!
  return statSync(join(path, file)).size
}
