import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../content/content.ts'
import { type TestApp, testApp } from '../host.ts'
import { Receiver } from '../receiver.ts'

let app: TestApp
let receiver: Receiver
beforeAll(async () => {
  app = await testApp({ TILDE_WEBHOOKS_INSECURE: '1' })
  receiver = await Receiver.start()
  // Repeats what it got, in the spellings in which services do.
  receiver.answer(({ headers, text }, response) => {
    const key = String(headers['x-key'] ?? '')
    response.writeHead(200, { connection: 'close', 'x-repeated': key })
    response.end([JSON.stringify(headers), text, small(key), form(key)].join('\n'))
  })
})
afterAll(async () => {
  await app.stop()
  await receiver.stop()
})

const small = (text: string) => encodeURIComponent(text).replace(/%\w\w/g, (byte) => byte.toLowerCase())
const form = (text: string) => new URLSearchParams({ text }).toString().slice('text='.length)

/** The run of a workflow with one request, as it is kept. */
async function runOf(
  tenant: string,
  request: object,
  value: string,
  others: { readonly [name: string]: string } = {},
): Promise<{ run: any; text: string }> {
  const at = (path: string) => `/~${tenant}/${path}`
  for (const [name, one] of Object.entries({ ...others, KEY: value }))
    await app.request('PUT', at(`secrets/${name}`), { value: one })
  const { body } = await app.request('POST', at('Workflow'), {
    name: 'Ask',
    triggerEvent: 'Contact.created',
    steps: [{ request: { method: 'POST', url: receiver.url, ...request } }],
  })
  await app.request('POST', at(`Workflow/${body.$id}/activate`))
  await app.request('POST', at('Contact'), { name: 'Go' })
  const runs = async () => (await app.request('GET', at(`Workflow/${body.$id}/runs`))).body.results
  await until(async () => (await runs())[0]?.endedAt)
  const { body: run, text } = await app.request('GET', at(`Workflow/${body.$id}/runs/${(await runs())[0].id}`))
  return { run, text }
}

test('a secret with spaces around it is taken out of an answer that repeats it without them', async () => {
  const { run, text } = await runOf('spaces', { headers: { 'x-key': '$secrets.KEY' } }, ' hunter22 ')

  expect(run.status).toBe('Succeeded')
  expect(text).not.toContain('hunter22')
})

test.each(['a', 'ad', 'ada'])(
  'a secret after the name %s is taken out of an answer that repeats both in base64',
  async (name) => {
    const url = receiver.url.replace('//', `//${name}:$secrets.KEY@`)
    const { run } = await runOf(`basic-${name}`, { url }, 'hunter22/correct horse')

    const [, sent = ''] = /"Basic ([^"]+)"/.exec(JSON.stringify(receiver.requests.at(-1)!.headers)) ?? []
    expect(atob(sent)).toBe(`${name}:hunter22/correct horse`)
    expect(run.status).toBe('Succeeded')
    const [, kept = ''] = /"authorization":"Basic ([^"]*)"/.exec(run.steps[0].output.body) ?? []
    expect(kept).toContain('[secret KEY]')
    expect(atob(kept.replace('[secret KEY]', ''))).not.toMatch(/unter|correct|horse/)
  },
)

test('a secret in a form, or percent-encoded in small letters, is taken out', async () => {
  const value = 'hunter22/ horse'

  const { run, text } = await runOf('forms', { headers: { 'x-key': '$secrets.KEY' } }, value)

  expect(run.status).toBe('Succeeded')
  for (const spelling of [value, small(value), form(value)]) expect(text).not.toContain(spelling)
})

test('a secret in a page or in XML is taken out, however they spell its quotes', async () => {
  const value = `hunter"22<'correct'>&horse`
  const page = (double: string, single: string) =>
    value
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', double)
      .replaceAll("'", single)
  receiver.answer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html', connection: 'close' })
    response.end(
      [page('&quot;', '&#39;'), page('&#34;', '&apos;'), page('"', "'"), page('&quot;', '&#x27;')].join('<br>'),
    )
  })

  const { run } = await runOf('pages', { headers: { 'x-key': '$secrets.KEY' } }, value)

  expect(run.status).toBe('Succeeded')
  expect(run.steps[0].output.body).toBe(Array(4).fill('[secret KEY]').join('<br>'))
})

/** JSON in which letters are escaped that need not be, as PHP and .NET do. */
const escaped = (text: string) =>
  JSON.stringify(text).replaceAll('/', '\\/').replaceAll('+', '\\u002B').replaceAll('&', '\\u0026')

test('a secret in JSON is taken out, however the JSON spells it', async () => {
  const value = 'hunter/22+correct&horse'
  receiver.answer(({ headers }, response) => {
    const key = escaped(String(headers['x-key']))
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' })
    response.end(`{"key": ${key}, "keys": [{${key}: 1}], "inside": ${JSON.stringify(`{"key":${key}}`)}}`)
  })

  const { run, text } = await runOf('escapes', { headers: { 'x-key': '$secrets.KEY' } }, value)

  expect(run.status).toBe('Succeeded')
  expect(run.steps[0].output.body).toEqual({
    key: '[secret KEY]',
    keys: [{ '[secret KEY]': 1 }],
    inside: expect.any(String),
  })
  expect(text).not.toMatch(/hunter|correct|horse/)
})

test('a secret in a host name or a query is taken out in the spelling of the URL', async () => {
  const { text } = await runOf('hosts', { url: 'http://$secrets.KEY.invalid/' }, 'Hunter22Correct')

  expect(text).not.toMatch(/hunter22/i)
})

test('a secret that looks like a part of JSON does not block its run', async () => {
  const { run } = await runOf('json', { body: { key: '$secrets.KEY' } }, '":"c')

  expect(run.status).toBe('Succeeded')
  expect(run.steps[0].output.headers.connection).toBe('close')
})

test('names of secrets that contain other secrets do not make an answer longer and longer', async () => {
  const [first, second, third] = ['A', 'B', 'C'].map((letter) => letter.repeat(64)) as [string, string, string]
  const others = { [first]: 'xxxx', [second]: 'AAAA', [third]: 'BBBB' }
  receiver.answer((_, response) => {
    response.writeHead(200, { connection: 'close' })
    response.end('x'.repeat(400_000))
  })

  const body = [first, second, third].map((name) => `$secrets.${name}`)
  const { run } = await runOf('names', { body }, 'hunter22', others)

  expect(run.status).toBe('Succeeded')
  expect(run.steps[0].output.body).toBe(`[secret ${first}]`)
})

test('an answer that has more names of secrets than a run can keep fails its step', async () => {
  receiver.answer((_, response) => {
    response.writeHead(200, { connection: 'close' })
    response.end('xxxx-'.repeat(200_000))
  })

  const name = 'A'.repeat(64)
  const { run } = await runOf('repeated', { body: [`$secrets.${name}`] }, 'hunter22', { [name]: 'xxxx' })

  expect(run.status).toBe('Failed')
  expect(run.error).toContain('repeats secrets too often')
})
