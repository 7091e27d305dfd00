import { OPERATOR } from '@tildebase/tenant'
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { Budget } from '../../packages/tenant/src/budget.ts'
import { Importer } from '../../packages/tenant/src/services/bulk/import.ts'
import { putType } from '../../packages/tenant/src/services/types/schema.ts'
import { undo } from '../../packages/tenant/src/services/undo.ts'
import { openAcme, type TestTenant } from '../tenant/fixture.ts'
import { verifies } from '../verifies.ts'

const PRODUCT = { name: 'string!', price: 'number' }
const LINE = {
  order: '-> Order',
  product: '-> Product',
  quantity: 'number = 1',
  at: 'datetime',
  amount: '= quantity * product.price',
}
const ORDER = {
  name: 'string',
  discount: 'number = 0',
  tags: 'json',
  lines: '<- Line.order[]',
  subtotal: '= sum(lines.amount) #',
  count: '= count(lines)',
  dearest: '= max(lines.product.price)',
  mean: '= avg(lines.quantity)',
  first: '= min(lines.at)',
  weight: '= sum(tags.weight)',
  total: '= subtotal * (1 - discount / 100)',
}

let tenant: TestTenant
let $: any

beforeEach(() => {
  tenant = openAcme().tenant
  $ = tenant.session('tester')
  declare('Order', {})
  declare('Product', PRODUCT)
  declare('Line', LINE)
  declare('Order', ORDER)
})

function declare(name: string, notation: object) {
  return tenant.write(OPERATOR, (write) => putType(write, name, notation as never))
}

describe('a computed field', () => {
  verifies('computed.expression', 'follows its own entity and those that it is related to', () => {
    const pen = $.Product.create({ name: 'Pen', price: 2.1 })
    const order = $.Order.create({ name: 'A', discount: 10, tags: [{ weight: 1 }, { weight: 2.5 }, {}] })
    expect(order).toMatchObject({ subtotal: 0, count: 0, total: 0, weight: 3.5 })

    $.Line.create({ order: order.$id, product: pen.$id, quantity: 3, at: '2026-03-01' })
    const line = $.Line.create({ order: order.$id, product: pen.$id, at: '2026-02-01' })

    expect(line.amount).toBe(2.1)
    expect($.Order.get(order.$id)).toMatchObject({
      subtotal: 8.4,
      count: 2,
      dearest: 2.1,
      mean: 2,
      first: '2026-02-01T00:00:00.000Z',
      total: 7.56,
    })
    $.Product.update(pen.$id, { price: 10 })
    expect($.Order.get(order.$id)).toMatchObject({ subtotal: 40, dearest: 10, total: 36 })
    $.Product.delete(pen.$id)
    expect($.Order.get(order.$id)).toMatchObject({ subtotal: 0, count: 2 })
    expect($.Order.get(order.$id).dearest).toBeUndefined()
  })

  verifies('computed.query', 'can be filtered, sorted, aggregated and read as of a time', () => {
    const pen = $.Product.create({ name: 'Pen', price: 1 })
    const orders = [5, 1, 3].map((quantity) => {
      const order = $.Order.create({ name: String(quantity) })
      $.Line.create({ order: order.$id, product: pen.$id, quantity, at: `2026-0${quantity}-01` })
      return order
    })
    const before = tenant.head.seq
    $.Product.update(pen.$id, { price: 2 })

    expect($.Order.find({ subtotal: { $gte: 6 } }, { sort: '-total' }).map((one: any) => one.total)).toEqual([10, 6])
    expect($.Order.find({ first: { $gt: '2026-02-01' } }, { sort: 'subtotal' }).map((one: any) => one.name)).toEqual([
      '3',
      '5',
    ])
    expect(
      $.Order.find({ subtotal: { $lt: 4 } }, { asOf: before, sort: 'subtotal' }).map((one: any) => one.subtotal),
    ).toEqual([1, 3])
    expect($.Order.aggregate({ sum: ['total'] }).results[0]).toMatchObject({ count: 3, sum: { total: 18 } })
    const [now, then] = $.Order.history(orders[0].$id).results
    expect([now.verb, now.data.subtotal, then.data.subtotal]).toEqual(['compute', 10, 5])
    expect($.Line.find({ 'order.subtotal': 10 }, { include: 'order' })[0].order.total).toBe(10)
  })

  verifies('computed.readonly', 'cannot be written, but for imports, which leave it out', () => {
    const order = $.Order.create({ name: 'A' })

    for (const write of [() => $.Order.create({ total: 1 }), () => $.Order.update(order.$id, { total: 0 })]) {
      expect(write).toThrow(
        expect.objectContaining({
          code: 'validation_error',
          about: expect.objectContaining({
            details: [{ field: 'total', message: 'is computed and cannot be written' }],
          }),
        }),
      )
    }
    const importer = new Importer(tenant.engine.noun('Order'), { upsert: null, dryRun: false })
    const rows = [{ row: 0, value: { name: 'B', total: 99 }, size: 1 }]
    expect(tenant.write(OPERATOR, (write) => importer.take(write, rows as never))).toMatchObject({ imported: 1 })
    expect($.Order.findOne({ name: 'B' }).total).toBe(0)
  })

  verifies('computed.import', 'follows an import once for each entity, however many rows it has', () => {
    const pen = $.Product.create({ name: 'Pen', price: 1 })
    const order = $.Order.create({ name: 'A' })
    const importer = new Importer(tenant.engine.noun('Line'), { upsert: null, dryRun: false })
    const rows = Array.from({ length: 200 }, (_, row) => ({
      row,
      value: { order: order.$id, product: pen.$id },
      size: 1,
    }))

    tenant.write(OPERATOR, (write) => importer.take(write, rows as never))

    expect($.Order.get(order.$id)).toMatchObject({ subtotal: 200, $version: 2 })
  })

  test.each([
    ['itself', 'Order', { ...ORDER, total: '= total + 1' }, 'computed from itself'],
    ['itself through a relation', 'Line', { ...LINE, amount: '= order.subtotal' }, 'Order.subtotal → Line.amount'],
    ['a field that is not declared', 'Order', { ...ORDER, total: '= nope' }, 'not a declared field'],
    ['many values without a measure', 'Order', { ...ORDER, total: '= lines.amount' }, 'many values'],
    ['a relation', 'Order', { ...ORDER, total: '= sum(lines) + lines' }, 'count it'],
    ['what is not an expression', 'Order', { ...ORDER, total: '= 1 +' }, 'expected'],
    ['an unknown measure', 'Order', { ...ORDER, total: '= summ(lines.amount)' }, 'did you mean sum'],
    ['a required mark', 'Order', { ...ORDER, total: '= 1 !' }, 'takes #'],
  ])('is refused when it reads %s', (_, name, notation, message) => {
    expect(() => declare(name, notation)).toThrow(message)
  })

  test('that another type reads cannot be taken away', () => {
    const { amount: _, ...rest } = LINE

    expect(() => declare('Line', rest)).toThrow('Order.subtotal')
  })

  test('of a restored entity is what the others say now', () => {
    const pen = $.Product.create({ name: 'Pen', price: 3 })
    const order = $.Order.create({ name: 'A' })
    $.Order.delete(order.$id)
    $.Line.create({ order: null, product: pen.$id })
    const line = $.Line.create({ product: pen.$id, quantity: 2 })
    $.Order.restore(order.$id)
    $.Line.update(line.$id, { order: order.$id })
    $.Order.delete(order.$id)
    $.Product.update(pen.$id, { price: 5 })

    expect($.Order.restore(order.$id)).toMatchObject({ subtotal: 10, total: 10 })
  })

  test('that followed another entity since does not prevent an undo', () => {
    const pen = $.Product.create({ name: 'Pen', price: 3 })
    const order = $.Order.create({ name: 'A' })
    const rename = { type: 'Order', verb: 'update', id: order.$id, data: { name: 'B', discount: 50 } }
    tenant.run(OPERATOR, rename, { correlation: 'rename' })
    $.Line.create({ order: order.$id, product: pen.$id })

    tenant.write(OPERATOR, (write) => undo(write, 'rename'))

    expect($.Order.get(order.$id)).toMatchObject({ name: 'A', discount: 0, subtotal: 3, total: 3 })
  })

  verifies('computed.backfill', 'that is declared later is worked out for what is stored', () => {
    const pen = $.Product.create({ name: 'Pen', price: 3 })
    $.Line.create({ order: $.Order.create({ name: 'A' }).$id, product: pen.$id, quantity: 2 })

    declare('Product', { ...PRODUCT, lines: '<- Line.product[]', sold: '= sum(lines.quantity)' })

    expect($.Product.get(pen.$id).sold).toBe(2)
  })

  verifies('computed.bounded', 'refuses a change that would lead to too many others, and writes nothing', () => {
    const pen = $.Product.create({ name: 'Pen', price: 3 })
    for (let i = 0; i < 3; i++) $.Line.create({ product: pen.$id })
    const most = Number.POSITIVE_INFINITY
    const budget = new Budget({ ms: most, rows: 2, bytes: most }, () => 0)

    const update = { type: 'Product', verb: 'update', id: pen.$id, data: { price: 4 } }

    expect(() => tenant.run(OPERATOR, update, { budget })).toThrow(expect.objectContaining({ code: 'over_budget' }))
    expect($.Product.get(pen.$id).price).toBe(3)
  })
})

type Step = { readonly do: string; readonly a: number; readonly b: number; readonly value: number }
const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom(
    'order',
    'product',
    'line',
    'price',
    'move',
    'quantity',
    'discount',
    'delete',
    'restore',
    'rollback',
    'undo',
  ),
  a: fc.nat(20),
  b: fc.nat(20),
  value: fc.integer({ min: 0, max: 500 }).map((cents) => cents / 100),
})

verifies(
  'computed.consistent',
  'whatever happens, computed fields equal what is computed from the entities, now and then',
  () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 5, maxLength: 40 }), (steps) => {
        const { tenant: fresh } = openAcme()
        tenant = fresh
        $ = tenant.session('tester')
        declare('Order', {})
        declare('Product', PRODUCT)
        declare('Line', LINE)
        declare('Order', ORDER)
        const made: { type: string; id: string }[] = []
        const seen: [number, unknown][] = []
        for (const [n, one] of steps.entries()) {
          attempt(one, made, n)
          const expected = model()
          expect(shown($.Order.find({}, { limit: 100 })), `step ${n} ${one.do}`).toEqual(expected)
          seen.push([tenant.head.seq, expected])
        }
        for (const [seq, expected] of seen) expect(shown($.Order.find({}, { limit: 100, asOf: seq }))).toEqual(expected)
        expect(tenant.facade.admin.verify()).toMatchObject({ faults: [] })
      }),
      { numRuns: Number(process.env.TILDE_COMPUTED_RUNS ?? 40) },
    )
  },
)

function attempt({ do: kind, a, b, value }: Step, made: { type: string; id: string }[], n: number): void {
  const pick = (type: string, index: number) => {
    const all = made.filter((one) => one.type === type)
    return all.length === 0 ? undefined : all[index % all.length]!.id
  }
  const write = (operation: any) => tenant.run(OPERATOR, operation, { correlation: `c${n}` })
  const create = (type: string, data: object) =>
    made.push({ type, id: write({ type, verb: 'create', data }).entity.id })
  const any = made[a % Math.max(made.length, 1)]
  try {
    if (kind === 'order') create('Order', { name: String(n), discount: b })
    else if (kind === 'product') create('Product', { name: String(n), price: value })
    else if (kind === 'line')
      create('Line', { order: pick('Order', a) ?? null, product: pick('Product', b) ?? null, quantity: value })
    else if (kind === 'price')
      write({ type: 'Product', verb: 'update', id: pick('Product', a), data: { price: value } })
    else if (kind === 'move')
      write({ type: 'Line', verb: 'update', id: pick('Line', a), data: { order: pick('Order', b) ?? null } })
    else if (kind === 'quantity')
      write({ type: 'Line', verb: 'update', id: pick('Line', a), data: { quantity: value } })
    else if (kind === 'discount') write({ type: 'Order', verb: 'update', id: pick('Order', a), data: { discount: b } })
    else if (kind === 'undo') tenant.write(OPERATOR, (one) => undo(one, `c${a}`))
    else if (any && kind === 'rollback') write({ ...verbOn(any), verb: kind, data: { version: 1 } })
    else if (any) write({ ...verbOn(any), verb: kind })
  } catch (reason: any) {
    // What a step cannot do here (nothing to move, deleted already) changes nothing.
    if (reason.code === undefined) throw reason
  }
}

function verbOn({ type, id }: { type: string; id: string }) {
  return { type, id }
}

const FIELDS = ['subtotal', 'count', 'dearest', 'mean', 'total'] as const

function shown(orders: any[]): unknown {
  return orders.map((order) => [order.$id, ...FIELDS.map((field) => order[field] ?? null)])
}

/** The same by hand, from the stored fields that are not computed. */
function model(): unknown {
  const [orders, lines, products] = ['Order', 'Line', 'Product'].map((type) => $[type].find({}, { limit: 100 }))
  const round = (value: number) => Number(value.toPrecision(15))
  return orders.map((order: any) => {
    const own = lines.filter((line: any) => line.order === order.$id).reverse()
    const priceOf = (line: any) => products.find((one: any) => one.$id === line.product)?.price
    const amounts = own.flatMap((line: any) =>
      priceOf(line) === undefined || line.quantity === undefined ? [] : [round(line.quantity * priceOf(line))],
    )
    const quantities = own.flatMap((line: any) => line.quantity ?? [])
    const prices = own.flatMap((line: any) => priceOf(line) ?? [])
    const sum = (list: number[]) => list.reduce((a, b) => a + b, 0)
    const subtotal = round(sum(amounts))
    return [
      order.$id,
      expect.closeTo(subtotal, 9),
      own.length,
      prices.length === 0 ? null : Math.max(...prices),
      quantities.length === 0 ? null : expect.closeTo(sum(quantities) / quantities.length, 9),
      expect.closeTo(subtotal * (1 - (order.discount ?? 0) / 100), 9),
    ]
  })
}
