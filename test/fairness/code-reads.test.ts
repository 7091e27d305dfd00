import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Budget, type Grant, OPERATOR } from '@tildebase/tenant'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openScript } from '../../packages/server/src/node/threads/script/script.ts'
import { toEnd } from '../../packages/tenant/src/engine/turns.ts'
import { putHook } from '../../packages/tenant/src/services/scripts/stored.ts'
import { type Automation, openAutomation } from '../automation/bench.ts'

let a: Automation
const folder = mkdtempSync(join(tmpdir(), 'tildebase-'))
const script = openScript({ most: 1 })
/** How often work was given to others to take turns with. */
let turns = 0
/** The milliseconds that pass with each look at the time: in such a time nothing is brief. */
let pace = 0

beforeAll(() => {
  // A file: what takes long is tried over a second connection to it.
  a = openAutomation({}, join(folder, 'acme.db'))
  for (let i = 0; i < 30; i++) a.run('Contact', 'create', undefined, { name: `c${i}` })
  let now = 0
  a.tenant.equip({
    script,
    turns: {
      now: () => {
        now += pace
        return now
      },
      isAwaited: () => true,
      run: async (steps) => {
        turns++
        return toEnd(steps)
      },
    },
  })
})
afterAll(async () => {
  await script.close()
  a.close()
  rmSync(folder, { recursive: true })
})
beforeEach(() => {
  turns = 0
  pace = 1_000
})

const HOUR = 3_600_000
const most = Number.POSITIVE_INFINITY
const budget = () => new Budget({ ms: HOUR, rows: most, bytes: most }, a.tenant.engine.ports.turns!.now)
const runCode = (code: string, grant: Grant = OPERATOR, more: object = {}) =>
  a.tenant.facade.runCode(grant, {}, budget(), { code, ...more })

const READS = [
  ['find', `(await $.Contact.find({ name: { $regex: '[^x]2$' } })).length`, 3],
  ['findOne', `(await $.Contact.findOne({ name: { $regex: '[^x]7$' } }, { sort: 'name' })).name`, 'c17'],
  ['findPage', `(await $.Contact.findPage({ name: { $regex: '[^x]2$' } })).total`, 3],
  ['count', `await $.Contact.count({ name: { $regex: '[^xy]2$' } })`, 3],
  ['aggregate', `(await $.Contact.aggregate({ filter: { name: { $regex: '[^x]2$' } } })).total`, 3],
] as const

test.each(READS)('%s of code lets others have their turn, and gives the same', async (_, code, expected) => {
  const { result } = await runCode(code)

  expect(result).toBe(expected)
  expect(turns).toBeGreaterThan(0)
})

test.each(READS)('%s of code that is only tried lets others have their turn', async (_, code, expected) => {
  const { result } = await runCode(`await $.Contact.create({ name: 'tried 2' }); ${code}`, OPERATOR, { dryRun: true })

  expect(result).toBe(code.includes('findOne') ? expected : Number(expected) + 1)
})

test('events for a key that sees some rows are looked at with turns for others', async () => {
  const grant: Grant = { ...OPERATOR, rows: { Contact: { name: { $regex: '[^x]2$' } } } }

  const { result } = await runCode(`(await $.events({ type: 'Contact.*' })).length`, grant)

  expect(result).toBe(3)
  expect(turns).toBeGreaterThan(0)
})

test('stored hooks and steps of workflows read with turns for others', async () => {
  pace = 6
  const code = `async (entity, $) => {
    const found = await $.Contact.find({ name: { $regex: '[^x]2$' } })
    await $.Comment.create({ body: 'found ' + found.length })
  }`
  const before = `async (entity, $) => ({ sku: String(await $.Contact.count({ name: { $regex: '[^x]2$' } })) })`
  a.tenant.write(OPERATOR, (write) => putHook(write, a.tenant.engine.noun('Product'), 'created', code))
  a.tenant.write(OPERATOR, (write) => putHook(write, a.tenant.engine.noun('Product'), 'creating', before))
  const { $id } = a.run('Workflow', 'create', undefined, {
    name: 'w',
    triggerEvent: 'Product.created',
    steps: [{ code }],
  })
  a.run('Workflow', 'activate', $id)

  await a.tenant.facade.write(OPERATOR, {}, budget(), (write) =>
    write.run({ type: 'Product', verb: 'create', data: { name: 'p' } }),
  )
  const afterwards = turns
  await a.settle()

  expect(afterwards).toBeGreaterThan(0)
  expect(a.tenant.sql.rows(`SELECT data FROM states WHERE type = 'Comment'`)).toHaveLength(2)
  expect(turns - afterwards).toBeGreaterThan(1)
})
