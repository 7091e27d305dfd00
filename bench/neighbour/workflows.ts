import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Attack } from './scene.ts'

const RUNS = 10_000

/** Workflows that call out, wait and write, ten thousand of them at once. */
export const WORKFLOWS: readonly Attack[] = [
  {
    name: '10,000 running workflows',
    env: { TILDE_WEBHOOKS_INSECURE: '1', TILDE_AUTOMATION_RATE: '0' },
    run: async ({ ask, signal }) => {
      const receiver = createServer((request, response) => request.resume().on('end', () => response.end('{}')))
      receiver.listen(0, '127.0.0.1')
      await once(receiver, 'listening')
      const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
      const turn = [
        { request: { method: 'POST', url, body: { name: '$event.data.name' } } },
        { verb: 'update', type: 'Contact', id: '$event.data.$id', args: { title: 'called' } },
        { wait: '100ms' },
      ]
      // No run ends while the neighbour is measured.
      const steps = Array.from({ length: 16 }, () => turn).flat()
      const draft = { $id: 'workflow_busy', name: 'busy', triggerEvent: 'Contact.created', steps }
      await ask('POST', '/import/Workflow', JSON.stringify(draft), 'application/x-ndjson')
      await ask('POST', '/Workflow/workflow_busy/activate', {})
      const rows = Array.from({ length: RUNS }, (_, i) => JSON.stringify({ name: `Contact ${i}` }))
      await ask('POST', '/import/Contact', rows.join('\n'), 'application/x-ndjson')
      if (!signal.aborted) await once(signal, 'abort')
      receiver.closeAllConnections()
      receiver.close()
    },
  },
]
