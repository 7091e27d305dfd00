import { mkdtempSync, rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT, testHost } from '../host.ts'
import { Receiver, until } from '../receiver.ts'
import { Sse } from '../sse.ts'

test('deliveries and live streams go out of worker threads, and a stop ends both in good order', async () => {
  const receiver = await Receiver.start()
  const host = await testHost({ TILDE_WEBHOOKS_INSECURE: '1' }, { workers: '2' })
  const stream = await Sse.open(`${host.url}/~acme/events`, ROOT)
  await host.request('POST', '/~acme/webhooks', { url: receiver.url, events: ['Contact.*'] })

  await host.request('POST', '/~acme/Contact', { name: 'Ada' })
  await receiver.got(1)
  await stream.got(2)
  receiver.answer((_, response) => void setTimeout(() => response.writeHead(200).end(), 300))
  await host.request('POST', '/~acme/Contact', { name: 'Grace' })
  await receiver.got(2)
  const polling = host.request('GET', '/~acme/events?cursor=3&wait=60')
  // What comes later is answered: then the poll has arrived too.
  for (let i = 0; i < 3; i++) await host.request('GET', '/~acme/Contact')
  await host.stop()
  await stream.ended

  expect(stream.messages.map(({ event }) => event)).toEqual(['Webhook.created', 'Contact.created', 'Contact.created'])
  expect((await polling).status).toBe(200)
  await receiver.stop()
})

test('what is in progress when the host stops is not sent again after it', async () => {
  const receiver = await Receiver.start()
  const data = mkdtempSync(join(tmpdir(), 'tildebase-'))
  const first = await testHost({ TILDE_WEBHOOKS_INSECURE: '1' }, { data })
  await first.request('POST', '/~acme/webhooks', { url: receiver.url, events: ['Contact.*'] })
  const held: ServerResponse[] = []
  receiver.answer((_, response) => void held.push(response))
  await first.request('POST', '/~acme/Contact', { name: 'Ada' })
  await first.request('POST', '/~acme/Contact', { name: 'Grace' })
  await receiver.got(1)
  const stopped = first.stop()
  setTimeout(() => held[0]!.writeHead(200).end(), 300)
  await stopped
  expect(receiver.requests).toHaveLength(1)
  receiver.answer(200)

  const second = await testHost({ TILDE_WEBHOOKS_INSECURE: '1' }, { data })
  await receiver.got(2)
  await until(async () => {
    const { body } = await second.request('GET', '/~acme/webhooks')
    const list = await second.request('GET', `/~acme/webhooks/${body.results[0].$id}/deliveries?state=delivered`)
    return list.body.total === 2
  })
  await second.stop()
  await receiver.stop()
  rmSync(data, { recursive: true, force: true })

  expect(receiver.requests.map(({ body }) => body.data.name)).toEqual(['Ada', 'Grace'])
})
