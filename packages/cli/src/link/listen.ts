import { createHmac, randomBytes } from 'node:crypto'
import type { EventRecord } from '@tildebase/client'
import { matchesEvent } from '@tildebase/nouns'
import type { Call } from '../command.ts'
import { UsageError } from '../parse/usage-error.ts'
import { lastSeq } from './last-seq.ts'

const TIMEOUT = 10_000

/** Sends every event to an address of this machine, signed like a webhook delivery, until it is stopped. */
export async function listen({ flags, out, link }: Call): Promise<void> {
  const url = flags.text('forward-to')
  if (url === undefined || !URL.canParse(url)) {
    throw new UsageError('Name the target: --forward-to http://localhost:3000/hook')
  }
  const patterns = (flags.text('events') ?? '*').split(',')
  const secret = flags.text('secret') ?? `whsec_${randomBytes(24).toString('base64')}`
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  const { $ } = link()
  const newest = await lastSeq($)
  out.line(`Signing with ${secret}`)
  for await (const event of $.events.stream({ lastEventId: newest, signal: stop.signal })) {
    const [type = '', name = ''] = event.type.split('.')
    if (!patterns.some((pattern) => matchesEvent(pattern, type, name))) continue
    out.line(`${event.seq}\t${event.type}\t${await deliver(url, secret, event)}`)
  }
}

async function deliver(url: string, secret: string, event: EventRecord): Promise<string> {
  const body = JSON.stringify(event)
  const at = String(Math.floor(Date.now() / 1_000))
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : secret
  const headers = {
    'content-type': 'application/json',
    'x-service-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    'webhook-id': event.id,
    'webhook-timestamp': at,
    'webhook-signature': `v1,${createHmac('sha256', key).update(`${event.id}.${at}.${body}`).digest('base64')}`,
  }
  try {
    const signal = AbortSignal.timeout(TIMEOUT)
    const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' })
    await response.body?.cancel()
    return String(response.status)
  } catch (reason) {
    const { message, cause } = reason as Error & { cause?: { code?: string } }
    return cause?.code ?? message
  }
}
