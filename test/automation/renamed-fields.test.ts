import { nounsOf, parseNoun } from '@tildebase/nouns'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  renamedBehaviour,
  renamedFilter,
  renamedRecordFilter,
} from '../../packages/tenant/src/services/types/renamed.ts'
import { type TestApp, testApp } from '../host.ts'

describe('a field that got another name', () => {
  const ship = parseNoun('Ship', { load: 'number', fleet: '-> Fleet.ships', loads: 'json' })
  const fleet = parseNoun('Fleet', { name: 'string', load: 'number', ships: '<- Ship.fleet[]' })
  const renaming = { nouns: nounsOf([ship, fleet]), type: 'Ship', from: 'load', to: 'cargo' }

  test.each([
    [{ load: { $gt: 1 } }, { cargo: { $gt: 1 } }],
    [{ $or: [{ load: 1 }, { $and: [{ 'load.x': 1 }] }] }, { $or: [{ cargo: 1 }, { $and: [{ 'cargo.x': 1 }] }] }],
    [
      { loads: 'load', 'loads.load': 1 },
      { loads: 'load', 'loads.load': 1 },
    ],
    [
      { 'fleet.load': 1, 'fleet.ships.load': 2 },
      { 'fleet.load': 1, 'fleet.ships.cargo': 2 },
    ],
    [{ $text: 'load' }, { $text: 'load' }],
    [{ load: 1, cargo: { $gt: 2 } }, { $and: [{ cargo: 1 }, { cargo: { $gt: 2 } }] }],
  ])('has it in the filter %j, and nothing else has', (filter, expected) => {
    expect(renamedFilter(filter, ship, renaming)).toEqual(expected)
  })

  test.each([
    [['Ship.*'], { 'data.load': 1, changed: 'load' }, { 'data.cargo': 1, changed: 'cargo' }],
    [['ship.created', 'Ship.updated'], { changed: { $in: ['load', 'x'] } }, { changed: { $in: ['cargo', 'x'] } }],
    [['*'], { 'data.load': 1 }, { 'data.load': 1 }],
    [['Ship.*', 'Fleet.*'], { 'data.load': 1 }, { 'data.load': 1 }],
  ])('has it in a webhook for %j with the filter %j', (events, filter, expected) => {
    expect(renamedRecordFilter(filter, events, renaming)).toEqual(expected)
  })

  test('has it in the filters, arguments and references of a workflow, and code stays', () => {
    const steps = (name: string) => [
      { verb: 'update', type: 'Ship', id: '$event.data.$id', args: { [name]: `$event.data.${name}` } },
      { verb: 'create', type: 'Fleet', args: { load: `$steps.0.${name}`, name: `has $event.previous.${name}.` } },
      {
        waitFor: 'Ship.updated',
        filter: { [name]: `$event.data.${name}` },
        if: { [`event.data.${name}`]: { $gt: 1 } },
      },
      { waitFor: 'Fleet.updated', filter: { load: `$steps.2.data.${name}`, name: '$event.data.loads' } },
      { code: '(event) => event.data.load', undo: { verb: 'update', type: 'Ship', id: 'x', args: { [name]: 1 } } },
    ]
    const workflow = (name: string) => ({ triggerEvent: 'Ship.*', filter: { [name]: 1 }, steps: steps(name) })

    expect(renamedBehaviour(workflow('load'), renaming)).toEqual(workflow('cargo'))
    expect(renamedBehaviour({ triggerEvent: '*', filter: { load: 1 } }, renaming)).toEqual({
      triggerEvent: '*',
      filter: { load: 1 },
    })
  })
})

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.stop())

test('workflows, webhooks and runs that have begun follow the rename of a field', async () => {
  const send = (method: string, path: string, body?: object) => app.request(method, `/~renamed/${path}`, body)
  await send('PUT', 'schema/Ship', { title: 'string', load: 'number', state: 'string' })
  const steps = [
    { waitFor: 'Ship.updated', filter: { $id: '$event.data.$id', state: 'ready' } },
    { verb: 'create', type: 'Comment', args: { body: '$event.data.title: $event.data.load of $steps.0.data.load' } },
  ]
  const given = { name: 'Loaded', triggerEvent: 'Ship.created', filter: { load: { $gt: 5 } }, steps }
  const { body: workflow } = await send('POST', 'Workflow', given)
  await send('POST', `Workflow/${workflow.$id}/activate`)
  const hook = { url: 'https://example.org/hook', events: ['Ship.*'], filter: { 'data.load': { $gt: 5 } } }
  const { body: webhook } = await send('POST', 'webhooks', hook)
  const { body: early } = await send('POST', 'Ship', { title: 'Early', load: 9 })
  const statuses = async () =>
    (await send('GET', `Workflow/${workflow.$id}/runs`)).body.results.map(({ status }: any) => status)
  await expect.poll(statuses, { timeout: 20_000 }).toEqual(['Waiting'])

  await send('POST', 'schema/Ship/rename', { from: 'load', to: 'cargo' })
  await send('POST', 'schema/Ship/rename', { from: 'state', to: 'stage' })
  const { body: late } = await send('POST', 'Ship', { title: 'Late', cargo: 8 })
  await send('POST', 'Ship', { title: 'Empty', cargo: 1 })
  await expect.poll(statuses, { timeout: 20_000 }).toEqual(['Waiting', 'Waiting'])
  for (const { $id } of [early, late]) await send('PUT', `Ship/${$id}`, { stage: 'ready', cargo: 7 })

  await expect.poll(statuses, { timeout: 20_000 }).toEqual(['Succeeded', 'Succeeded'])
  const { body: comments } = await send('GET', 'Comment?sort=createdAt')
  expect(comments.results.map(({ body }: any) => body)).toEqual(['Early: 9 of 7', 'Late: 8 of 7'])
  expect((await send('GET', `Workflow/${workflow.$id}`)).body.filter).toEqual({ cargo: { $gt: 5 } })
  expect((await send('GET', `webhooks/${webhook.$id}`)).body.filter).toEqual({ 'data.cargo': { $gt: 5 } })
})
