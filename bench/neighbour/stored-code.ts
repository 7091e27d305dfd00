import { connect } from 'node:net'
import { type Attack, endlessly, load, pause } from './scene.ts'

const LARGE = 'x'.repeat(30_000)
const DEEP = `${'!'.repeat(99_000)}1`
/** Each multiplication takes longer than a hook may compute. */
const BIG = '() => { let a = 3n ** 2000000n; for (;;) a *= a }'

/** Code and workflows that take more than they may, and answers that the client does not read. */
export const STORED_CODE: readonly Attack[] = [
  {
    name: 'answers that are not read',
    prepare: (scene) => load(scene, 'Contact', 1_000, (i) => ({ name: `c${i}`, title: LARGE })),
    run: ({ url, attacker, key, signal }) => {
      const { hostname, port } = new URL(url)
      const head = [`GET /~${attacker}/Contact?limit=1000 HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${key}`]
      return endlessly(signal, 1, async () => {
        const sockets = Array.from({ length: 60 }, () => {
          const socket = connect(Number(port), hostname)
          // Nothing is read from it.
          socket.on('error', () => {})
          socket.write([...head, '', ''].join('\r\n'))
          return socket
        })
        await pause(3_000)
        for (const socket of sockets) socket.destroy()
      })
    },
  },
  {
    name: 'deep code',
    run: ({ ask, signal }) => endlessly(signal, 4, () => ask('POST', '/do', { code: DEEP })),
  },
  {
    name: 'hooks with large BigInts',
    prepare: async ({ ask }) => {
      await ask('PUT', '/schema/Lead/hooks/creating', { code: BIG })
    },
    run: ({ ask, signal }) => endlessly(signal, 4, (i) => ask('POST', '/Lead', { name: `l${i}` })),
  },
  {
    name: 'a workflow that triggers itself',
    prepare: async ({ operator, attacker }) => {
      const steps = Array.from({ length: 10 }, () => ({ verb: 'create', type: 'Lead', args: { name: 'again' } }))
      const made = { $id: 'workflow_loop', name: 'loop', triggerEvent: 'Lead.created', steps }
      await operator('POST', `/~${attacker}/import/Workflow`, JSON.stringify(made), 'application/x-ndjson')
      await operator('POST', `/~${attacker}/Workflow/workflow_loop/activate`)
    },
    run: ({ ask, signal }) =>
      endlessly(signal, 1, async () => {
        await ask('POST', '/Lead', { name: 'first' })
        await pause(1_000)
      }),
  },
]
