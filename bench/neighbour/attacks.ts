import { truncateSync } from 'node:fs'
import { join } from 'node:path'
import { LONG_WRITES } from './long-writes.ts'
import { type Attack, endlessly, load, pause, type Scene } from './scene.ts'
import { STORED_CODE } from './stored-code.ts'
import { WHOLE_TENANT } from './whole-tenant.ts'
import { WORKFLOWS } from './workflows.ts'

const WORDS = Array.from({ length: 200 }, (_, i) => `word${i * 7919}`)
const encoded = (value: unknown) => encodeURIComponent(JSON.stringify(value))
const contact = (i: number) => ({ name: `Person ${i}`, email: `p${i}@example.org`, source: `number ${i * 7}` })
const contacts = (count: number) => (scene: Scene) => load(scene, 'Contact', count, contact)

/** A text of about 800 kB without repetition that an index could use. */
function largeText(seed: number): string {
  return Array.from({ length: 90_000 }, (_, i) => `${WORDS[(i * 31 + seed) % 200]}${i % 977}`)
    .join(' ')
    .slice(0, 800_000)
}

function head(method: string, path: string, ...more: string[]): string {
  return [`${method} ${path} HTTP/1.1`, 'Host: localhost', ...more, '', ''].join('\r\n')
}

/** The attacks of the table in docs/notes/performance.md. */
export const ATTACKS: readonly Attack[] = [
  {
    name: 'large texts',
    run: ({ ask, signal }) =>
      endlessly(signal, 4, (i) => ask('POST', '/Content', { title: `t${i}`, body: largeText(i) })),
  },
  {
    name: 'batches of patterns',
    prepare: contacts(20_000),
    run: ({ ask, signal }) => {
      const path = `/Contact?filter=${encoded({ source: { $regex: '(9+)+8$' } })}`
      const operations = Array.from({ length: 100 }, (_, i) => ({ id: `o${i}`, method: 'GET', path }))
      return endlessly(signal, 4, () => ask('POST', '/batch', { operations }))
    },
  },
  {
    name: 'includes that fan out',
    prepare: async (scene) => {
      await load(scene, 'Organization', 1, () => ({ $id: 'organization_hub', name: 'Hub' }))
      await load(scene, 'Contact', 5_000, (i) => ({ ...contact(i), organization: 'organization_hub' }))
    },
    run: ({ ask, signal }) =>
      endlessly(signal, 4, () => ask('GET', '/Contact?limit=100&include=organization.contacts.organization')),
  },
  {
    name: 'chains of references',
    run: ({ ask, signal }) =>
      endlessly(signal, 2, (run) => {
        const rows = Array.from({ length: 2_000 }, (_, i) => ({
          $id: `contact_r${run}c${i}`,
          name: `c${i}`,
          ...(i < 1_999 && { manager: `contact_r${run}c${i + 1}` }),
        }))
        return ask('POST', '/import/Contact', rows.map((row) => JSON.stringify(row)).join('\n'), 'application/x-ndjson')
      }),
  },
  {
    name: 'live lists beside writes',
    prepare: contacts(5_000),
    run: async ({ ask, socket, signal, attacker, key }) => {
      const path = `/~${attacker}/Contact?filter=${encoded({ source: { $regex: '9$' } })}&sort=source`
      for (let i = 0; i < 200; i++)
        socket(head('GET', path, `Authorization: Bearer ${key}`, 'Accept: text/event-stream'))
      await endlessly(signal, 4, (i) => ask('POST', '/Contact', { name: `live ${i}`, source: `${i}9` }))
    },
  },
  {
    name: '1,000 polls',
    run: async ({ ask, keyOf, socket, signal, attacker }) => {
      const keys = await Promise.all(Array.from({ length: 4 }, keyOf))
      for (let i = 0; i < 1_000; i++) {
        const poll = head('GET', `/~${attacker}/events?wait=20&since=now`, `Authorization: Bearer ${keys[i % 4]}`)
        // Each client asks again as soon as it is answered.
        socket(poll, ({ send }) => send(poll))
      }
      // Each write answers all of them.
      await endlessly(signal, 1, async (i) => {
        await ask('POST', '/Contact', { name: `poll ${i}` })
        await pause(1_000)
      })
    },
  },
  {
    name: '1,000 connections at once',
    run: ({ socket, signal, attacker, key }) => {
      const request = head('GET', `/~${attacker}/Contact`, `Authorization: Bearer ${key}`)
      return endlessly(signal, 1, async () => {
        const sockets = Array.from({ length: 1_000 }, () => socket(request))
        await pause(1_000)
        for (const { close } of sockets) close()
      })
    },
  },
  {
    name: 'pipelined requests without a key',
    run: ({ socket, signal, attacker }) => {
      const requests = head('GET', `/~${attacker}/Contact`).repeat(500)
      return endlessly(signal, 4, async () => {
        const { close } = socket(requests)
        await pause(50)
        close()
      })
    },
  },
  {
    name: 'endless code',
    run: ({ ask, signal }) => endlessly(signal, 16, () => ask('POST', '/do', { code: 'while (true) {}' })),
  },
  {
    name: 'held and slow bodies',
    run: async ({ socket, signal, attacker, key }) => {
      const start = head('POST', `/~${attacker}/Contact`, `Authorization: Bearer ${key}`, 'Content-Length: 9000000')
      const sockets = Array.from({ length: 200 }, () => socket(start + 'x'.repeat(60_000)))
      await endlessly(signal, 1, async () => {
        for (const { send } of sockets) send('x')
        await pause(200)
      })
    },
  },
  {
    name: '10,000 sign-ups',
    env: { TILDE_SIGNUP: 'open' },
    run: ({ socket, signal }) => {
      let tenant = Date.now()
      const body = '{"name":"first"}'
      return endlessly(signal, 8, async () => {
        const requests = Array.from({ length: 50 }, () =>
          head('POST', `/~s${tenant++}/api-keys`, 'Content-Type: application/json', `Content-Length: ${body.length}`),
        )
        const { close } = socket(requests.map((request) => request + body).join(''))
        await pause(60)
        close()
      })
    },
  },
  {
    name: 'exports and imports',
    prepare: contacts(20_000),
    run: ({ ask, signal }) => {
      const rows = Array.from({ length: 5_000 }, (_, i) => JSON.stringify({ name: `import ${i}` })).join('\n')
      return endlessly(signal, 4, (i) =>
        i % 2 === 0
          ? ask('GET', `/export/Contact?format=${i % 4 === 0 ? 'csv' : 'parquet'}`)
          : ask('POST', '/import/Contact', rows, 'application/x-ndjson'),
      )
    },
  },
  {
    name: 'scans',
    prepare: contacts(50_000),
    run: ({ ask, signal }) =>
      endlessly(signal, 4, () => ask('GET', `/Contact?filter=${encoded({ source: { $regex: '999$' } })}&sort=source`)),
  },
  ...WHOLE_TENANT,
  ...LONG_WRITES,
  ...STORED_CODE,
  ...WORKFLOWS,
  {
    name: 'a damaged tenant',
    env: { TILDE_OPEN_TENANTS: '4' },
    prepare: async ({ operator, ask, data, attacker }) => {
      await ask('POST', '/Contact', { name: 'Ada' })
      // Others are opened until the attacker's file is closed.
      for (let i = 0; i < 40; i++) await operator('POST', `/~other${i}/Contact`, { name: 'Ada' })
      truncateSync(join(data, 'tenants', attacker.slice(0, 2), `${attacker}.db`), 4_096)
      const status = await ask('GET', '/Contact')
      if (status !== 503) throw new Error(`A damaged tenant answers with ${status}.`)
    },
    run: ({ ask, signal }) => endlessly(signal, 8, () => ask('GET', '/Contact')),
  },
  {
    name: 'a quarantined tenant',
    env: { TILDE_CONFIG: join(import.meta.dirname, 'deadly-hook.ts') },
    prepare: async ({ ask }) => {
      for (let i = 0; i < 2; i++) {
        await ask('POST', '/Lead', { name: 'the end' })
        await pause(3_000)
      }
      const status = await ask('GET', '/Contact')
      if (status !== 503) throw new Error(`A quarantined tenant answers with ${status}.`)
    },
    run: ({ ask, signal }) => endlessly(signal, 8, () => ask('GET', '/Contact')),
  },
]
