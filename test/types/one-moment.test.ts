import { OPERATOR } from '@tildebase/tenant'
import { expect, test } from 'vitest'
import { putType } from '../../packages/tenant/src/services/types/schema.ts'
import { openAcme } from '../tenant/fixture.ts'

test('all events of one write have one time, though the clock continues', () => {
  const { tenant, clock } = openAcme()
  const $: any = tenant.session('tester')
  tenant.write(OPERATOR, (write) => putType(write, 'Order', {}))
  tenant.write(OPERATOR, (write) => putType(write, 'Line', { order: '-> Order', price: 'number' } as never))
  const ORDER = { lines: '<- Line.order[]', total: '= sum(lines.price)' }
  tenant.write(OPERATOR, (write) => putType(write, 'Order', ORDER as never))
  const order = $.Order.create({})
  // Every look at the clock finds a later time.
  tenant.equip({ clock: { now: () => clock.at++ } })

  const line = $.Line.create({ order: order.$id, price: 5 })

  const times = tenant.sql.rows(
    'SELECT DISTINCT at FROM events WHERE entity IN (?, ?) AND seq > 4',
    line.$id,
    order.$id,
  )
  expect(tenant.sql.rows('SELECT verb FROM events WHERE entity IN (?, ?)', line.$id, order.$id)).toHaveLength(3)
  expect(times).toHaveLength(1)
})
