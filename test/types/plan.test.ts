import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'

let app: TestApp
let count = 0
beforeAll(async () => {
  app = await testApp({ TILDE_WEBHOOKS_INSECURE: '1' })
})
afterAll(() => app.stop())

const FLEET = {
  types: {
    // Each needs the other.
    Ship: {
      name: 'string!',
      length: 'number',
      status: 'Planned | Afloat = Planned',
      harbour: '-> Harbour.ships',
      tons: '= sum(cargo.tons)',
      cargo: '<- Crate.ship[]',
      launch: { event: 'launched', from: 'Planned', set: { status: 'Afloat' } },
    },
    Crate: { tons: 'number', ship: '-> Ship' },
    Harbour: { name: 'string!##', ships: '<- Ship.harbour[]', flagship: '-> Ship' },
    Contact: { vip: 'boolean' },
  },
  roles: { Captain: { scopes: 'write:Ship', filter: { Ship: { status: 'Afloat' } } } },
  hooks: { Ship: { launching: "(ship) => { if (!ship.length) throw new Error('How long is it?') }" } },
  workflows: {
    Welcome: {
      triggerEvent: 'Ship.launched',
      steps: [{ verb: 'create', type: 'Activity', args: { subject: 'Launched', type: 'Note' } }],
    },
  },
  views: { Afloat: { type: 'Ship', filter: { status: 'Afloat' }, columns: ['name', 'length'], sort: '-length' } },
  webhooks: { Log: { url: 'http://127.0.0.1:9/hook', events: ['Ship.*'] } },
}

/** A tenant of its own. */
function tenant() {
  const root = `/~plan-${count++}`
  const send = (method: string, path: string, body?: unknown) => app.request(method, `${root}${path}`, body)
  const plan = async (declaration: object) => {
    const { status, body } = await send('POST', '/schema/plan', declaration)
    expect([status, body.message]).toEqual([200, undefined])
    return body
  }
  const push = async (declaration: object) => {
    const { steps } = await plan(declaration)
    for (const { request, name } of steps) {
      const { status, body } = await send(request.method, request.path, request.body)
      expect([name, status < 300, body]).toEqual([name, true, body])
    }
    return steps as { action: string; kind: string; name: string; migrates: number; loses: number }[]
  }
  return { send, plan, push }
}

const short = (steps: readonly any[]) => steps.map(({ action, kind, name }) => `${action} ${kind} ${name}`)

describe('POST …/schema/plan', () => {
  verifies('schema.plan', 'answers the requests that make the tenant as declared, and then none', async () => {
    const { send, plan, push } = tenant()

    const { steps, tested } = await plan(FLEET)
    const { body: untouched } = await send('GET', '/schema/Ship')
    await push(FLEET)

    expect(tested).toBe(true)
    expect(untouched.error).toBe('unknown_type')
    expect(short(steps)).toContain('create webhook Log')
    const again = await plan(FLEET)
    expect(again).toMatchObject({ steps: [], total: 0, loses: 0, others: [] })
    expect(again.current.types.Ship).toEqual(FLEET.types.Ship)
    expect(again.current.types.Contact).toEqual({ vip: 'boolean' })
    const { current } = again
    expect((await plan(current)).steps).toEqual([])
    // Another tenant gets all of it from what this one has.
    const other = tenant()
    await other.push(current)
    expect((await other.plan(FLEET)).steps).toEqual([])
    const { body: contact } = await other.send('POST', '/Contact', { name: 'Ada', vip: true })
    expect((await other.send('POST', `/Contact/${contact.$id}/qualify`)).status).toBe(200)
    const { body: ship } = await other.send('POST', '/Ship', { name: 'Beagle' })
    expect((await other.send('POST', `/Ship/${ship.$id}/launch`)).body.message).toContain('How long is it?')
  })

  verifies('schema.plan.extends', 'adds to a built-in type, also if all of the type is written down', async () => {
    const { send, plan, push } = tenant()
    const { body: contact } = await send('GET', '/schema/Contact')

    const steps = await push({ types: { Contact: { ...contact.notation, vip: 'boolean' } } })

    expect(short(steps)).toEqual(['change type Contact'])

    expect((await plan({ types: { Contact: { vip: 'boolean' } } })).steps).toEqual([])
    const { body: now } = await send('GET', '/schema/Contact')
    expect(now.own).toEqual({ vip: 'boolean' })
    expect(Object.keys(now.verbs)).toEqual(Object.keys(contact.verbs))
  })

  verifies('schema.plan.migrations', 'removes a state together with the verbs that lead to it', async () => {
    const { send, push } = tenant()
    const Job = {
      title: 'string',
      status: 'Open | Checked | Done = Open',
      check: { event: 'checked', from: 'Open', set: { status: 'Checked' } },
      end: { event: 'ended', from: 'Checked', set: { status: 'Done' } },
    }
    await push({ types: { Job } })
    const { body: job } = await send('POST', '/Job', { title: 'Roof' })
    await send('POST', `/Job/${job.$id}/check`)
    const next = {
      types: {
        Job: {
          title: 'string',
          status: 'Open | Done = Open',
          end: { event: 'ended', from: 'Open', set: { status: 'Done' } },
        },
      },
    }

    const { status, body } = await send('POST', '/schema/plan', next)
    await send('DELETE', `/Job/${job.$id}`)
    const steps = await push(next)
    const wider = await push({ types: { Job: { ...next.types.Job, status: 'Open | Done | Late = Open' } } })

    expect([status, body.details]).toEqual([
      422,
      [{ id: job.$id, field: 'status', message: expect.stringContaining('must be Open or Done') }],
    ])
    expect(short(steps)).toEqual(['change type Job', 'convert type Job'])
    // New values need no look at what is stored.
    expect(short(wider)).toEqual(['change type Job'])
    const { body: other } = await send('POST', '/Job', { title: 'Wall' })
    expect((await send('POST', `/Job/${other.$id}/end`)).body.status).toBe('Done')
  })

  verifies('schema.plan.migrations', 'renames and converts what is stored, and counts it', async () => {
    const { send, push, plan } = tenant()
    await push({ types: { Ship: { name: 'string!', length: 'string', flag: 'string' } } })
    for (const length of ['27', '30', '31']) await send('POST', '/Ship', { name: length, length })

    const next = {
      types: { Ship: { name: 'string!', metres: 'number', flag: 'string! = DE' } },
      renamed: { Ship: { metres: 'length' } },
    }
    const steps = await push(next)

    expect(steps.map(({ action, migrates }) => [action, migrates])).toEqual([
      ['rename', 3],
      ['convert', 3],
      ['convert', 3],
    ])
    const { body } = await send('GET', '/Ship?sort=metres')
    expect(body.results.map((ship: any) => [ship.metres, ship.flag, ship.length])).toEqual([
      [27, 'DE', undefined],
      [30, 'DE', undefined],
      [31, 'DE', undefined],
    ])
    expect((await plan(next)).steps).toEqual([])
  })

  verifies('schema.plan.loses', 'counts the entities that have a value in a field that goes', async () => {
    const { send, plan, push } = tenant()
    await push({ types: { Ship: { name: 'string!', flag: 'string', motto: 'string' } } })
    for (const flag of ['DE', 'FR']) await send('POST', '/Ship', { name: flag, flag })

    const gone = await plan({ types: { Ship: { name: 'string!', motto: 'string' } } })
    const unused = await plan({ types: { Ship: { name: 'string!', flag: 'string' } } })
    const like = await plan({ types: { Ship: { name: 'string!', banner: 'string', motto: 'string' } } })

    expect([gone.loses, unused.loses]).toEqual([2, 0])
    expect(gone.steps[0].changes).toEqual([{ part: 'flag', from: 'string', to: null }])
    expect(like.steps[0].hint).toContain("banner: 'flag'")
  })

  verifies('schema.plan.refuses', 'refuses what the data or the rights do not allow, and names the step', async () => {
    const { send, push } = tenant()
    await push({ types: { Ship: { name: 'string!', status: 'Planned | Afloat = Planned' } } })
    const { body: ship } = await send('POST', '/Ship', { name: 'Beagle', status: 'Afloat' })

    const enumGone = await send('POST', '/schema/plan', {
      types: { Ship: { name: 'string!', status: 'Planned | Sold = Planned' } },
    })
    const required = await send('POST', '/schema/plan', {
      types: { Ship: { name: 'string!', status: 'Planned | Afloat = Planned', flag: 'string!' } },
    })
    const broken = await send('POST', '/schema/plan', { hooks: { Ship: { creating: '(ship) => {' } } })
    const unknown = await send('POST', '/schema/plan', { typs: {} })

    expect(enumGone.body).toMatchObject({ error: 'validation_error', type: 'Ship', field: 'status', step: 0 })
    expect(enumGone.body.message).toContain(ship.$id)
    expect(required.body).toMatchObject({ error: 'validation_error', field: 'flag', step: 1 })
    expect([broken.status, broken.body.field]).toEqual([422, 'hooks.Ship.creating'])
    expect(unknown.body).toMatchObject({ error: 'invalid_schema', details: [{ field: 'typs' }] })
    expect(unknown.body.message).toContain('types')
  })

  verifies('schema.plan.others', 'leaves what is not declared alone, unless prune is set', async () => {
    const { plan, push } = tenant()
    await push(FLEET)
    const some = {
      types: { Crate: FLEET.types.Crate, Ship: FLEET.types.Ship, Harbour: FLEET.types.Harbour },
      hooks: {},
    }

    const left = await plan(some)
    const pruned = await push({ ...some, prune: true })

    expect(left.steps).toEqual([])
    expect(left.others).toEqual([
      { kind: 'type', name: 'Contact' },
      { kind: 'hook', name: 'Ship.launching' },
    ])
    expect(short(pruned)).toEqual(['delete hook Ship.launching', 'delete type Contact'])
    expect(pruned.map(({ loses }) => loses)).toEqual([1, 1])
  })

  test('a changed workflow, view, role and webhook is changed in its place', async () => {
    const { plan, push } = tenant()
    await push(FLEET)
    const changed = {
      roles: { Captain: { scopes: 'write:Ship' } },
      workflows: { Welcome: { ...FLEET.workflows.Welcome, timeout: 5, active: false } },
      views: { Afloat: { type: 'Ship', sort: 'name' } },
      webhooks: { Log: { url: 'http://127.0.0.1:9/other', events: ['Ship.launched'] } },
    }

    const steps = await push(changed)

    expect(short(steps)).toEqual([
      'change role Captain',
      'change workflow Welcome',
      'change view Afloat',
      'change webhook Log',
    ])
    const again = await plan(changed)
    expect(again.steps).toEqual([])
    expect(Object.keys(again.current.webhooks)).toEqual(['Log'])
    expect(again.current.workflows).toEqual(changed.workflows)
  })
})

verifies('slices.plan', 'a plan that looks at many fields gives turns to others', async () => {
  const rows = Array.from({ length: 500 }, (_, i) => ({ name: `s${i}` }))
  await app.request('PUT', '/~turns/schema/Ship', { name: 'string!' })
  await app.request('POST', '/~turns/import/Ship', rows)
  const fields = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`field${i}`, 'string']))
  let turns = 0
  let isDone = false
  const turn = () => {
    turns++
    if (!isDone) setImmediate(turn)
  }
  turn()
  const plan = await app.request('POST', '/~turns/schema/plan', { types: { Ship: { name: 'string!', ...fields } } })
  isDone = true

  expect(plan.body).toMatchObject({ total: 1, tested: true })
  // Each field is a question of its own.
  expect(turns).toBeGreaterThan(100)
})
