import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import { catalogue, type Noun } from '@tildebase/nouns'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openapiText } from '../packages/server/src/doors/openapi/document.ts'
import { type Reply, type TestHost, testHost } from './host.ts'
import { Judge } from './openapi-judge.ts'
import { verifies } from './verifies.ts'

let host: TestHost
let document: Reply['body']
beforeAll(async () => {
  host = await testHost({ TILDE_WEBHOOKS_INSECURE: '1' })
  await host.request('PUT', '/~acme/schema/Gadget', {
    name: 'string!',
    colour: 'Red | Green = Red',
    paint: { event: 'painted' },
  })
  document = (await host.request('GET', '/~acme/openapi.json')).body
})
afterAll(() => host.stop())

describe('the OpenAPI document', () => {
  verifies('openapi.read', 'describes every endpoint of the tenant, its own types included', async () => {
    expect(document).toMatchObject({ openapi: '3.1.0', servers: [{ url: `${host.url}/~acme` }] })
    for (const path of [
      '/Contact',
      '/Contact/{id}',
      '/Contact/{id}/qualify',
      '/Gadget/{id}/paint',
      '/batch',
      '/metrics',
    ]) {
      expect(document.paths).toHaveProperty([path])
    }
    expect(document.paths['/Event/{id}']).not.toHaveProperty('put')
    expect(document.components.schemas.GadgetDraft).toMatchObject({ required: ['name'] })
    expect(JSON.stringify(document)).not.toContain('tenant.invalid')
  })

  test('is made in steps, at least two for each type', () => {
    const nouns = Object.values(catalogue) as unknown as Noun[]
    const making = openapiText({ routes: [], nouns, url: 'https://acme.example', version: '1' })
    let steps = 0
    let made = making.next()
    for (; !made.done; made = making.next()) steps++

    expect(steps).toBeGreaterThanOrEqual(2 * nouns.length)
    expect(JSON.parse(made.value!).components.schemas).toHaveProperty('ContactDraft')
  })

  test('is valid for one judge', async () => {
    const { valid, errors } = await new Validator().validate(document)

    expect(valid, JSON.stringify(errors)?.slice(0, 2_000)).toBe(true)
  })

  test('is valid for another judge, without a warning', async () => {
    const config = await createConfig({
      extends: ['recommended'],
      rules: {
        'no-server-example.com': 'off',
        // A role begins with a capital letter, so /schema/roles/{name} is never /schema/{type}/hooks.
        'no-ambiguous-paths': 'off',
        // To lead elsewhere is what some paths are for.
        'operation-2xx-response': 'off',
      },
    })
    const problems = await lintFromString({ source: JSON.stringify(document), config })

    expect(problems.map(({ ruleId, message, location }) => `${ruleId} ${message} ${location[0]?.pointer}`)).toEqual([])
  })

  test('names all parameters that paths take, of lists, of the stream, of writes and of verbs', () => {
    const { paths, components } = document
    const named = ({ parameters }: { parameters: { $ref?: string; name?: string }[] }) =>
      parameters.map(({ $ref, name }) => name ?? components.parameters[$ref!.split('/').at(-1)!].name)

    expect(named(paths['/Contact'].get)).toEqual(expect.arrayContaining(['total', 'explain', 'lastEventId', 'strict']))
    expect(named(paths['/Contact'].post)).toEqual(expect.arrayContaining(['dryRun', 'propose', 'reason', 'strict']))
    expect(named(paths['/Contact/{id}/qualify'].post)).toContain('cascade')
    expect(named(paths['/events'].get)).toEqual(expect.arrayContaining(['wait', 'total', 'lastEventId', 'strict']))
    expect(named(paths['/metrics'].get)).toContain('strict')
  })

  test('says of no update that it applies a default', () => {
    const patches = Object.entries(document.components.schemas).filter(([name]) => name.endsWith('Patch'))

    expect(patches.length).toBeGreaterThan(30)
    expect(JSON.stringify(patches)).not.toContain('"default"')
  })

  verifies('lens.openapi', 'shows the types that the lens surfaces', async () => {
    const { body } = await host.request('GET', '/crm/~acme/openapi.json')

    expect(body.paths).toHaveProperty('/Deal')
    expect(body.paths).toHaveProperty('/Gadget')
    expect(body.paths).not.toHaveProperty('/Invoice')
    expect(body.paths).toHaveProperty('/batch')
  })
})

describe('the examples of the document', () => {
  let judge: Judge
  beforeAll(() => {
    judge = new Judge(document)
  })

  /** Sends a request, and holds its answer against what the document says of it. */
  async function replay(path: string, method: string, url: string, body?: unknown, headers = {}): Promise<Reply> {
    const reply = await host.request(method.toUpperCase(), `/~acme${url}`, body, headers)
    expect(judge.differs(document.paths[path][method], reply, `${method} ${path} ${reply.status}`)).toBeNull()
    return reply
  }

  test('every draft creates an entity, which is then read, listed, counted, changed, run through its verbs and deleted', async () => {
    let verbs = 0
    for (const path of Object.keys(document.paths).filter((path) => /^\/[A-Z]\w*$/.test(path))) {
      const { example } = document.paths[path].post.requestBody.content['application/json']
      const { status, body: entity, text } = await replay(path, 'post', path, example)
      expect(status, `${path} ${text}`).toBe(201)
      await replay(path, 'get', `${path}?limit=1`)
      await replay(`${path}/count`, 'get', `${path}/count`)
      await replay(`${path}/{id}`, 'get', `${path}/${entity.$id}`)
      if (document.paths[`${path}/{id}`].put) {
        expect((await replay(`${path}/{id}`, 'put', `${path}/${entity.$id}`, {})).status).toBe(200)
      }
      for (const verb of Object.keys(document.paths).filter((one) => one.startsWith(`${path}/{id}/`))) {
        if (!document.paths[verb].post || /\/(?:delete|erase|restore|test|redeliver|rotate)$/.test(verb)) continue
        const { content } = document.paths[verb].post.requestBody ?? {}
        // The content of a file has no example.
        if (content && !content['application/json']) continue
        const body = content?.['application/json'].example ?? {}
        await replay(verb, 'post', verb.replace('{id}', entity.$id), body)
        verbs++
      }
      if (document.paths[`${path}/{id}`].delete) {
        expect((await replay(`${path}/{id}`, 'delete', `${path}/${entity.$id}`)).status).toBe(204)
        expect((await replay(`${path}/{id}`, 'get', `${path}/${entity.$id}`)).status).toBe(404)
      }
    }
    expect(verbs).toBeGreaterThan(100)
  })

  test('the fixed paths answer as they are said to', async () => {
    for (const path of ['/batch', '/events', '/sync']) {
      const { example } = document.paths[path].post.requestBody.content['application/json']
      expect((await replay(path, 'post', path, example)).status).toBeLessThan(300)
    }
    const { example } = document.paths['/import/{type}'].post.requestBody.content['application/json']
    expect((await replay('/import/{type}', 'post', '/import/Contact', example)).body).toMatchObject({ imported: 1 })
    for (const path of ['/metrics', '/events', '/schema', '/manifest']) {
      expect((await replay(path, 'get', path)).status).toBe(200)
    }
    for (const format of ['json', 'ndjson', 'csv', 'parquet']) {
      expect((await replay('/export/{type}', 'get', `/export/Contact?format=${format}`)).status).toBe(200)
    }
  })

  test('a metric that is built in is not an entity, and its value may be null', async () => {
    const { body } = await replay('/Metric/{id}', 'get', '/Metric/nrr')

    expect(body).toMatchObject({ builtIn: true, value: null })
    expect(body).not.toHaveProperty('$id')
  })

  test('MCP answers a message, a stream or nothing', async () => {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    const both = { accept: 'application/json, text/event-stream' }

    const message = await replay('/mcp', 'post', '/mcp', call, { accept: 'application/json' })
    const stream = await replay('/mcp', 'post', '/mcp', call, both)
    const nothing = await replay('/mcp', 'post', '/mcp', { jsonrpc: '2.0', method: 'notifications/initialized' }, both)

    expect(message.body.result.tools).toHaveLength(3)
    expect(stream.headers.get('content-type')).toContain('text/event-stream')
    expect([nothing.status, nothing.text]).toEqual([202, ''])
  })

  test.each([
    ['/oauth/register', { redirect_uris: [] }, 400, 'invalid_redirect_uri'],
    ['/oauth/token', 'grant_type=password', 400, 'unsupported_grant_type'],
    ['/oauth/token', 'grant_type=refresh_token&client_id=c&refresh_token=t', 400, 'invalid_grant'],
    ['/oauth/revoke', 'x=y', 400, 'invalid_request'],
    ['/oauth/device', 'client_id=unknown', 401, 'invalid_client'],
  ])('%s tells of errors in the words of OAuth, as it is said to (%o)', async (path, body, status, code) => {
    await host.request('POST', '/~acme/User', { name: 'Ada', email: `${code}@example.com` })
    const { content } = document.paths[path].post.responses[status]

    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const reply = await replay(path, 'post', path, body, typeof body === 'string' ? form : {})

    expect([reply.status, reply.body.error]).toEqual([status, code])
    expect(Object.keys(content['application/json'].examples)).toContain(code)
    expect(JSON.stringify(content['application/json'].schema)).toContain('OAuthError')
  })

  test('answers about the past match their schemas', async () => {
    const { body: contact } = await replay('/Contact', 'post', '/Contact', { name: 'Ada', leadScore: 1 })
    await replay('/Contact/{id}', 'put', `/Contact/${contact.$id}`, { leadScore: 2 })

    const history = await replay('/Contact/{id}/history', 'get', `/Contact/${contact.$id}/history`)
    const diff = await replay('/Contact/{id}/diff', 'get', `/Contact/${contact.$id}/diff?from=1&to=2`)
    const groups = await replay('/Contact/aggregate', 'get', '/Contact/aggregate?group=stage&sum=leadScore')

    expect([history.body.total, diff.body.changes.length, groups.status]).toEqual([2, 1, 200])
  })

  test.each([
    ['get', '/Contact', '/Contact?limit=0', undefined, 400],
    ['get', '/Contact/{id}', '/Contact/contact_none', undefined, 404],
    ['post', '/Contact', '/Contact', {}, 422],
    ['post', '/Contact', '/Contact', '{', 400],
    ['post', '/batch', '/batch', {}, 400],
  ])('%s %s tells of errors as it is said to (%s)', async (method, path, url, body, status) => {
    expect((await replay(path, method, url, body)).status).toBe(status)
  })
})
