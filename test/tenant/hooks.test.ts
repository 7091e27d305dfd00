import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Hooks, registryOf } from '@tildebase/tenant/hooks'
import type { ScriptAnswer } from '@tildebase/tenant/ports'
import { expect, test } from 'vitest'
import { grantFor } from '../../packages/tenant/src/grant/grant.ts'
import { putHook } from '../../packages/tenant/src/services/scripts/stored.ts'
import { verifies } from '../verifies.ts'
import { openAcme } from './fixture.ts'

const create = (data: object) => ({ type: 'Contact', verb: 'create', data, actor: 'tester' })

verifies(
  ['verb.lifecycle', 'verb.names', 'verb.custom.lifecycle', 'hook.after.durable'],
  'BEFORE, execute and AFTER run in this order, AFTER once the event is durable',
  async () => {
    const steps: string[] = []
    const hooks = new Hooks()
    const on = registryOf(hooks)
    const { tenant } = openAcme({ hooks })
    on.Contact!.creating!(() => void steps.push(`creating at ${tenant.head.seq}`))
    on.Contact!.created!(() => void steps.push(`created at ${tenant.head.seq}`))
    on.Contact!.qualifying!((contact) => void steps.push(`qualifying ${contact.stage}`))
    on.Contact!.qualified!((contact) => void steps.push(`qualified ${contact.stage}`))

    const { entity } = tenant.act(create({ name: 'Ada' }))
    tenant.act({ type: 'Contact', verb: 'qualify', id: entity.id, actor: 'tester' })
    await tenant.wake()

    expect(steps).toEqual(['creating at 0', 'qualifying Lead', 'created at 2', 'qualified Qualified'])
  },
)

verifies('hook.before.change', 'a BEFORE hook may change the payload', () => {
  const hooks = new Hooks()
  registryOf(hooks).Contact!.creating!((draft) => ({ email: String(draft.email).toLowerCase() }))
  const { tenant } = openAcme({ hooks })

  const { entity } = tenant.act(create({ name: 'Ada', email: 'ADA@B.C' }))

  expect(JSON.parse(entity.data).email).toBe('ada@b.c')
})

verifies(['hook.before.refuse', 'hook.before.nothing'], 'a BEFORE hook may refuse, and nothing is written', () => {
  const hooks = new Hooks()
  registryOf(hooks).Contact!.creating!((_, $) => {
    $.Event.create({ name: 'attempt', type: 'track' })
    throw new Error('No more contacts today.')
  })
  const { tenant } = openAcme({ hooks })

  expect(() => tenant.act(create({ name: 'Ada' }))).toThrow(
    expect.objectContaining({ code: 'rejected', message: 'No more contacts today.' }),
  )
  expect(tenant.head.seq).toBe(0)
})

verifies(
  ['hook.after.failure', 'hook.after.retry'],
  'an AFTER hook that fails is logged and repeated, and the verb is kept',
  async () => {
    const hooks = new Hooks()
    let runs = 0
    registryOf(hooks).Contact!.created!((contact, $) => {
      runs++
      if (runs < 3) throw new Error('not yet')
      $.Event.create({ name: 'welcome', type: 'track', data: { contact: contact.$id } })
    })
    const { tenant, clock, log } = openAcme({ hooks })

    tenant.act(create({ name: 'Ada' }))
    await tenant.wake()
    const afterFirst = [runs, log.length, tenant.head.seq]
    for (let i = 0; i < 5; i++) {
      clock.at += 60_000
      await tenant.wake()
    }

    expect(afterFirst).toEqual([1, 1, 1])
    expect([runs, tenant.head.seq]).toEqual([3, 2])
    expect(tenant.facade.due()).toBeNull()
  },
)

verifies('hook.after.crash', 'an AFTER hook survives a crash between the event and its run', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-'))
  const path = `${folder}/acme.db`
  const ran: string[] = []
  const hooks = new Hooks()
  registryOf(hooks).Contact!.created!((contact) => void ran.push(String(contact.name)))

  const crashing = openAcme({ hooks }, path)
  crashing.tenant.act(create({ name: 'Ada' }))
  crashing.close()
  const reopened = openAcme({ hooks }, path).tenant
  await reopened.wake()

  expect(ran).toEqual(['Ada'])
  rmSync(folder, { recursive: true })
})

test('an AFTER hook can create further entities in the name of the hook', async () => {
  const hooks = new Hooks()
  registryOf(hooks).Contact!.qualified!((contact, $) =>
    $.Deal.create({ name: `Deal of ${contact.name}`, contact: contact.$id }),
  )
  const { tenant } = openAcme({ hooks })
  const { entity } = tenant.act(create({ name: 'Ada' }))

  tenant.act({ type: 'Contact', verb: 'qualify', id: entity.id, actor: 'tester' })
  await tenant.wake()

  const [deal] = tenant.session('tester').Deal!.find!({})
  expect(deal).toMatchObject({ name: 'Deal of Ada', contact: entity.id, $createdBy: 'hook:Contact.qualified' })
})

test('a loop of AFTER hooks ends and is reported, and later events are not part of it', async () => {
  const hooks = new Hooks()
  registryOf(hooks).Contact!.created!((_, $) => $.Contact.create({ name: 'again' }))
  const { tenant, log } = openAcme({ hooks })

  for (const name of ['Ada', 'Bob']) {
    tenant.act(create({ name }))
    for (let i = 0; i < 20; i++) await tenant.wake()
  }

  expect(tenant.head.seq).toBe(14)
  expect(log).toEqual([expect.stringContaining('loop'), expect.stringContaining('loop')])
})

test.each([
  ['and the write stands', { result: { name: 'asked' }, logs: [] }, 1],
  ['and the hook is over though that was refused', { error: { code: 'script_error', message: 'no' }, logs: [] }, 0],
] as const)('an AFTER hook ends with what it wrote and did not wait for, %s', async (_, given, deals) => {
  const hooks = new Hooks()
  registryOf(hooks).Contact!.created!((_, $) => {
    $.Deal.create({ name: 'Deal' })
  })
  const { tenant } = openAcme({ hooks })
  let answer = (_: ScriptAnswer) => {}
  const run = () => new Promise<ScriptAnswer>((done) => (answer = done))
  tenant.equip({ script: { run } })
  tenant.write(grantFor('tester'), (write) => putHook(write, tenant.engine.noun('Deal'), 'creating', '() => {}'))
  const left = () => tenant.sql.rows('SELECT count(*) FROM after_hook_queue')[0]![0]

  tenant.act(create({ name: 'Ada' }))
  const woken = tenant.wake()
  await new Promise((done) => setImmediate(done))
  const during = left()
  answer(given)
  await woken

  expect([during, left()]).toEqual([1, 0])
  expect(tenant.session('tester').Deal!.count!({})).toBe(deals)
})
