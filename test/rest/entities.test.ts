import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nextMillisecond } from '../clock.ts'
import { type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'

let host: TestHost
const sent = (...args: Parameters<TestHost['request']>) => host.request(...args)

beforeAll(async () => {
  host = await testHost()
})
afterAll(() => host.stop())

async function contact(fields: object = {}, tenant = 'acme') {
  const { body } = await sent('POST', `/~${tenant}/Contact`, { name: 'Ada', ...fields })
  return body
}

describe('an entity that was created', () => {
  verifies(
    [
      'rest.create',
      'status.create',
      'meta.id.form',
      'meta.type',
      'meta.context',
      'meta.times',
      'meta.times.plain',
      'meta.createdBy',
      'meta.all',
      'noun.default',
      'endpoint.prefix',
      'endpoint.body.json',
    ],
    'is answered with 201, all meta-fields and its defaults',
    async () => {
      const { status, body, headers } = await sent('POST', '/~acme/Contact', {
        name: 'Ada',
        $id: 'contact_mine',
        $version: 9,
      })

      expect(status).toBe(201)
      expect(body).toMatchObject({
        $type: 'Contact',
        $version: 1,
        name: 'Ada',
        stage: 'Lead',
        status: 'Active',
        $createdBy: 'operator',
      })
      expect(body.$context).toBe(`${host.url}/~acme`)
      expect(body.$id).toMatch(/^contact_[0-9A-Za-z]{16,}$/)
      for (const name of ['$createdAt', '$updatedAt', 'createdAt', 'updatedAt'])
        expect(body[name]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      expect(headers.get('location')).toBe(`/~acme/Contact/${body.$id}`)
    },
  )

  verifies(
    ['id.token', 'id.camel', 'id.sortable', 'meta.request.ignored'],
    'has an id that sorts by time and is not the sender’s',
    async () => {
      const first = await contact({ $id: 'contact_aaaaaaaaaaaaaaaaaaaa', $createdAt: '2000-01-01T00:00:00Z' })
      await nextMillisecond()
      const second = await contact()
      const flag = await sent('POST', '/~acme/FeatureFlag', { key: 'k', name: 'n' })
      const key = await sent('POST', '/~acme/ApiKey', { name: 'n' })

      expect(first.$id).not.toBe('contact_aaaaaaaaaaaaaaaaaaaa')
      expect(first.$createdAt > '2020').toBe(true)
      expect(first.$id < second.$id).toBe(true)
      expect(flag.body.$id).toMatch(/^featureFlag_/)
      expect(key.body.$id).toMatch(/^apiKey_/)
    },
  )

  verifies(
    ['rest.get', 'status.ok', 'etag.read', 'etag.ifNoneMatch', 'type.byName', 'type.byPlural'],
    'is read by name and by plural path, with an ETag',
    async () => {
      const { $id } = await contact()

      const byName = await sent('GET', `/~acme/Contact/${$id}`)
      const byPath = await sent('GET', `/~acme/contacts/${$id}`)
      const known = await sent('GET', `/~acme/Contact/${$id}`, undefined, { 'if-none-match': '"1"' })

      expect(byName.status).toBe(200)
      expect(byName.headers.get('etag')).toBe('"1"')
      expect(byPath.body).toEqual(byName.body)
      expect([known.status, known.text]).toEqual([304, ''])
    },
  )

  verifies(['etag.ifNoneMatch', 'etag.ifMatch'], 'is known by a tag that a proxy has made weak', async () => {
    const { $id } = await contact()
    const tagged = (header: string, tag: string) =>
      sent(header === 'if-match' ? 'PUT' : 'GET', `/~acme/Contact/${$id}`, header === 'if-match' ? {} : undefined, {
        [header]: tag,
      })

    const known = await Promise.all(['W/"1"', '"7", W/"1"', '"7"'].map((tag) => tagged('if-none-match', tag)))
    const changed = await Promise.all(['W/"1"', '1', '2, "1"', '2', 'one'].map((tag) => tagged('if-match', tag)))

    expect(known.map(({ status }) => status)).toEqual([304, 304, 200])
    expect(changed.map(({ status }) => status)).toEqual([200, 200, 200, 412, 412])
  })

  verifies(['etag.ifNoneMatch', 'etag.ifMatch'], 'has another tag when an embedded entity changes', async () => {
    const { body: organization } = await sent('POST', '/~acme/Organization', { name: 'Engines' })
    const { $id } = await contact({ organization: organization.$id })
    const path = `/~acme/Contact/${$id}?include=organization`
    const read = async (known: string) => {
      const { status, headers, body } = await sent('GET', path, undefined, { 'if-none-match': known })
      return { status, tag: headers.get('etag')!, name: body?.organization.name }
    }

    const first = await read('"1"')
    const known = await read(first.tag)
    await sent('PUT', `/~acme/Organization/${organization.$id}`, { name: 'Looms' })
    const second = await read(first.tag)
    const changes = await Promise.all(
      [second.tag, second.tag.replace('"1', '"2')].map((tag) =>
        sent('PUT', `/~acme/Contact/${$id}`, {}, { 'if-match': tag }),
      ),
    )

    expect([first.status, known.status, second.status]).toEqual([200, 304, 200])
    expect(known.tag).toBe(first.tag)
    expect(second).toMatchObject({ name: 'Looms' })
    expect(changes.map(({ status }) => status)).toEqual([200, 412])
  })

  verifies(
    ['rest.put', 'rest.patch', 'update.merge', 'update.null', 'meta.version', 'version.counter'],
    'is merged by PUT and PATCH, and null clears',
    async () => {
      const { $id } = await contact({ phone: '1', title: 'Dr' })

      const put = await sent('PUT', `/~acme/Contact/${$id}`, { phone: '2' })
      const patch = await sent('PATCH', `/~acme/Contact/${$id}`, { title: null })

      expect(put.body).toMatchObject({ $version: 2, phone: '2', title: 'Dr', name: 'Ada' })
      expect(patch.body.$version).toBe(3)
      expect(patch.body).not.toHaveProperty('title')
    },
  )

  verifies('update.nothing', 'keeps its version when nothing changes, and no event is written', async () => {
    const { $id } = await contact({ phone: '1' }, 'quiet')

    const same = await sent('PUT', `/~quiet/Contact/${$id}`, { phone: '1', title: null })
    const history = await sent('GET', `/~quiet/Contact/${$id}/history`)

    expect(same.body.$version).toBe(1)
    expect(history.body.results.map((v: any) => v.verb)).toEqual(['create'])
  })

  verifies(
    ['etag.ifMatch'],
    'is not changed with If-None-Match: *, which is meant for what does not exist',
    async () => {
      const { $id } = await contact()
      const guarded = { 'if-none-match': '*' }

      const put = await sent('PUT', `/~acme/Contact/${$id}`, { phone: '1' }, guarded)
      const verb = await sent('POST', `/~acme/Contact/${$id}/qualify`, {}, guarded)
      const removed = await sent('DELETE', `/~acme/Contact/${$id}`, undefined, guarded)
      const created = await sent('POST', '/~acme/Contact', { name: 'Bob' }, guarded)

      expect([put, verb, removed].map(({ status }) => status)).toEqual([412, 412, 412])
      expect(created.status).toBe(201)
      expect((await sent('GET', `/~acme/Contact/${$id}`)).body.$version).toBe(1)
    },
  )

  verifies(['etag.ifMatch'], 'is not changed under another If-Match', async () => {
    const { $id } = await contact()
    const wrong = { 'if-match': '"7"' }

    const answers = [
      await sent('PUT', `/~acme/Contact/${$id}`, { phone: '2' }, wrong),
      await sent('POST', `/~acme/Contact/${$id}/qualify`, {}, wrong),
      await sent('DELETE', `/~acme/Contact/${$id}`, undefined, wrong),
    ]
    const right = await sent('PUT', `/~acme/Contact/${$id}`, { phone: '2' }, { 'if-match': '"1"' })

    expect(answers.map(({ status, body }) => [status, body.error])).toEqual(Array(3).fill([412, 'version_mismatch']))
    expect(right.body.$version).toBe(2)
  })

  verifies(
    [
      'rest.delete',
      'status.delete',
      'delete.soft',
      'entity.deleted.read',
      'entity.deleted.twice',
      'entity.missing',
      'asOf.deleted',
      'get.asOf',
      'asOf.state',
      'asOf.changed',
    ],
    'is gone after DELETE, and still there as of before',
    async () => {
      const made = await contact({ phone: '1' })
      const { body: changed } = await sent('PUT', `/~acme/Contact/${made.$id}`, { phone: '2' })
      await nextMillisecond()

      const gone = await sent('DELETE', `/~acme/Contact/${made.$id}`)
      const read = await sent('GET', `/~acme/Contact/${made.$id}`)
      const again = await sent('DELETE', `/~acme/Contact/${made.$id}`)
      const before = await sent('GET', `/~acme/Contact/${made.$id}?asOf=${changed.$updatedAt}`)
      const listed = await sent('GET', `/~acme/Contact?$id=${made.$id}&asOf=${changed.$updatedAt}`)

      expect([gone.status, gone.text]).toEqual([204, ''])
      expect([read.status, read.body.error, read.body.type, read.body.id]).toEqual([
        404,
        'not_found',
        'Contact',
        made.$id,
      ])
      expect(again.status).toBe(404)
      expect(before.body).toMatchObject({ phone: '2', $version: 2 })
      expect(listed.body.results).toHaveLength(1)
    },
  )
})

describe('declared fields', () => {
  verifies(
    [
      'noun.check.type',
      'noun.check.required',
      'noun.check.enum',
      'error.validation',
      'error.validation.details',
      'error.shape',
      'error.requestId',
      'error.stack',
    ],
    'are validated, and all errors are reported together',
    async () => {
      const { status, body, headers } = await sent('POST', '/~acme/Deal', {
        value: 'much',
        stage: 'Near',
        expectedCloseDate: '2026-02-30',
      })

      expect([status, body.error, body.type]).toEqual([422, 'validation_error', 'Deal'])
      expect(body.details.map((issue: any) => issue.field).sort()).toEqual([
        'expectedCloseDate',
        'name',
        'stage',
        'value',
      ])
      expect(body.requestId).toBe(headers.get('x-request-id'))
      expect(JSON.stringify(body)).not.toMatch(/\.ts|at .*\(/)
    },
  )

  verifies(
    ['noun.check.unique', 'unique.conflict'],
    'that are unique refuse a second holder, until the first is gone',
    async () => {
      const first = await contact({ email: 'ada@example.org' })

      const second = await sent('POST', '/~acme/Contact', { name: 'Eve', email: 'ada@example.org' })
      await sent('DELETE', `/~acme/Contact/${first.$id}`)
      const third = await sent('POST', '/~acme/Contact', { name: 'Eve', email: 'ada@example.org' })
      const back = await sent('POST', `/~acme/Contact/${first.$id}/restore`)

      expect([second.status, second.body.error, second.body.field]).toEqual([409, 'conflict', 'email'])
      expect(third.status).toBe(201)
      expect([back.status, back.body.field]).toEqual([409, 'email'])
    },
  )

  test('that refer to what was deleted since may be sent back as they are, and not otherwise', async () => {
    const firm = await sent('POST', '/~acme/Organization', { name: 'Analytical Engines' })
    const made = await contact({ organization: firm.body.$id })
    await sent('DELETE', `/~acme/Organization/${firm.body.$id}`)

    const back = await sent('PUT', `/~acme/Contact/${made.$id}`, { ...made, phone: '7' })
    const fresh = await sent('POST', '/~acme/Contact', { name: 'Eve', organization: firm.body.$id })

    expect([back.status, back.body.phone]).toEqual([200, '7'])
    expect([fresh.status, fresh.body.field]).toEqual([422, 'organization'])
  })

  verifies(['noun.undeclared', 'noun.datetime'], 'are normalised; others are stored as given', async () => {
    const made = await contact({ lastEngagement: '2026-03-01T12:00:00+02:00', shoe: { size: [42, null] } })

    expect(made.lastEngagement).toBe('2026-03-01T10:00:00.000Z')
    expect(made.shoe).toEqual({ size: [42, null] })
  })

  verifies(
    ['reference.exists', 'reference.deleted', 'reference.include', 'rest.get.include'],
    'that refer must name something that is there; it may be deleted later',
    async () => {
      const { body: org } = await sent('POST', '/~acme/Organization', { name: 'Org' })
      const { body: other } = await sent('POST', '/~elsewhere/Organization', { name: 'Org' })

      const missing = await sent('POST', '/~acme/Contact', { name: 'A', organization: other.$id })
      const wrongType = await sent('POST', '/~acme/Contact', { name: 'A', manager: org.$id })
      const made = await contact({ organization: org.$id })
      const embedded = await sent('GET', `/~acme/Contact/${made.$id}?include=organization`)
      const back = await sent('GET', `/~acme/Organization/${org.$id}?include=contacts`)
      await sent('DELETE', `/~acme/Organization/${org.$id}`)
      const after = await sent('GET', `/~acme/Contact/${made.$id}?include=organization`)

      expect([missing.status, missing.body.details[0].field]).toEqual([422, 'organization'])
      expect(wrongType.status).toBe(422)
      expect(embedded.body.organization).toMatchObject({ $id: org.$id, name: 'Org' })
      expect(back.body.contacts.map((one: any) => one.$id)).toEqual([made.$id])
      expect(after.body.organization).toBeNull()
    },
  )

  verifies(
    ['rest.get.fields', 'fields.list', 'fields.identity'],
    'can be chosen; $id and $type come along',
    async () => {
      const made = await contact({ phone: '1' })

      const { body } = await sent('GET', `/~acme/Contact/${made.$id}?fields=name,phone`)
      const wrong = await sent('GET', `/~acme/Contact/${made.$id}?fields=a.b`)

      expect(body).toEqual({ $id: made.$id, $type: 'Contact', name: 'Ada', phone: '1' })
      expect([wrong.status, wrong.body.error]).toEqual([400, 'invalid_fields'])
    },
  )

  test('are shown with all relations to embed, also with spaces between names', async () => {
    const made = await contact({ '': 'a name without letters' })

    for (const path of [`Contact/${made.$id}?`, `Contact?$id=${made.$id}&`])
      for (const include of ['', 'organization,deals', ' organization , deals.contact']) {
        const { body } = await sent('GET', `/~acme/${path}fields=name&include=${encodeURIComponent(include)}`)
        const relations = include === '' ? [] : ['deals', 'organization']
        const names = Object.keys(body.results?.[0] ?? body).toSorted()
        expect([path, include, names]).toEqual([path, include, ['$id', '$type', ...relations, 'name'].toSorted()])
      }
  })
})

describe('a body', () => {
  verifies(['error.shape', 'error.validation'], 'that is not an object is refused in a whole sentence', async () => {
    for (const body of ['[]', 'null', '"x"', '5', '']) {
      const made = await sent('POST', '/~acme/Contact', body)
      const hook = await sent('POST', '/~acme/webhooks', body)

      expect([made.status, made.body.message]).toEqual([
        422,
        'The Contact is not valid. the body must be a JSON object',
      ])
      expect(made.body).not.toHaveProperty('field')
      expect([hook.status, hook.body.error]).toEqual([422, 'validation_error'])
    }
  })

  test('that is zipped is taken by imports alone', async () => {
    const { status, body } = await sent('POST', '/~acme/Contact', gzipSync('{"name":"Ada"}'), {
      'content-encoding': 'gzip',
    })

    expect([status, body.error, body.field]).toEqual([415, 'unsupported_media_type', 'Content-Encoding'])
  })
})

describe('limits', () => {
  verifies(
    ['limit.body', 'limit.entity', 'limit.depth', 'limit.status'],
    'are named when they are passed',
    async () => {
      const body = await sent('POST', '/~acme/Contact', `{"name":"${'x'.repeat(10 * 1_048_576)}"}`)
      const entity = await sent('POST', '/~acme/Contact', { name: 'x', notes: 'y'.repeat(1_048_576) })
      const deep = await sent('POST', '/~acme/Contact', `{"name":"x","deep":${'['.repeat(65)}${']'.repeat(65)}}`)
      const bomb = await sent('POST', '/~acme/Contact', `${'['.repeat(200_000)}`)

      expect([body.status, body.body.error, body.body.limit]).toEqual([413, 'too_large', 10_485_760])
      expect([entity.status, entity.body.limit]).toEqual([413, 1_048_576])
      expect([deep.status, deep.body.limit]).toEqual([400, 64])
      expect(bomb.status).toBe(400)
    },
  )
})
