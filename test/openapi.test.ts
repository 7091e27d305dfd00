import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Reply, type TestHost, testHost } from './host.ts'
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

  test('is valid for one judge', async () => {
    const { valid, errors } = await new Validator().validate(document)

    expect(valid, JSON.stringify(errors)?.slice(0, 2_000)).toBe(true)
  })

  test('is valid for another judge, without a warning', async () => {
    const config = await createConfig({ extends: ['recommended'], rules: { 'no-server-example.com': 'off' } })
    const problems = await lintFromString({ source: JSON.stringify(document), config })

    expect(problems.map(({ ruleId, message, location }) => `${ruleId} ${message} ${location[0]?.pointer}`)).toEqual([])
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
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  const judges = new Map<string, ValidateFunction>()

  /** Sends a request, and holds its answer against what the document says of it. */
  async function replay(path: string, method: string, url: string, body?: unknown): Promise<Reply> {
    const operation = document.paths[path][method]
    const reply = await host.request(method.toUpperCase(), `/~acme${url}`, body)
    const said = operation.responses[reply.status]
    expect(said, `${method} ${path} answers ${reply.status}: ${reply.text.slice(0, 300)}`).toBeDefined()
    const schema = resolved(said).content?.['application/json']?.schema
    if (reply.text !== '' && schema) {
      const valid = judgeOf(schema)
      expect(valid(reply.body), `${method} ${path}: ${JSON.stringify(valid.errors)}`).toBe(true)
    }
    return reply
  }

  /** What holds a body against a schema of the document, made once for each. */
  function judgeOf(schema: object): ValidateFunction {
    const text = JSON.stringify(schema).replaceAll('"#/components', '"document#/components')
    if (judges.size === 0) ajv.addSchema({ components: document.components }, 'document')
    const judge = judges.get(text) ?? ajv.compile(JSON.parse(text))
    judges.set(text, judge)
    return judge
  }

  function resolved(part: Reply['body']): Reply['body'] {
    return part.$ref ? document.components.responses[part.$ref.split('/').at(-1)] : part
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
        const body = document.paths[verb].post.requestBody?.content['application/json'].example ?? {}
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
    expect((await replay('/export/{type}', 'get', '/export/Contact')).status).toBe(200)
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
