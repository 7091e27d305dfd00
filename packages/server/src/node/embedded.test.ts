import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tildebase } from '@tildebase/client'
import { noun } from '@tildebase/nouns'
import { expect, test } from 'vitest'
import { nextMillisecond } from '../../../../test/clock.ts'
import { localTildebase } from './embedded.ts'

const Ship = noun('Ship', {
  name: 'string!',
  status: 'Planned | Afloat = Planned',
  captain: '-> Contact.ships',
  launch: { from: 'Planned', set: { status: 'Afloat' }, args: ['harbour'] },
})

test('a client works on a tenant in memory as on a server', async () => {
  const local = await localTildebase({ tenant: 'acme' })
  const $ = tildebase({ ...local, nouns: {} })

  const ada = await $.Contact.create({ name: 'Ada' })
  await nextMillisecond()
  await $.Contact.qualify(ada.$id)

  expect((await $.Contact.findOne())?.stage).toBe('Qualified')
  expect((await $.Contact.get(ada.$id, { asOf: ada.$createdAt }))?.stage).toBe('Lead')
  expect(ada.$context).toBe($.$context)
  await expect($.Contact.create({} as never)).rejects.toMatchObject({ code: 'validation_error' })
  await local.close()
})

test('streams, imports and code work in process too', async () => {
  const local = await localTildebase({ tenant: 'acme' })
  const $ = tildebase(local)
  const stop = new AbortController()
  const seen: unknown[] = []
  await $.Contact.create({ name: 'a' })

  for await (const { type, data } of $.events.stream({ lastEventId: 0, signal: stop.signal })) {
    seen.push(type === 'Contact.created' && data.name)
    if (seen.length === 1) await $.Contact.create({ name: 'b' })
    else stop.abort()
  }
  const many = await $.Lead.createMany(Array.from({ length: 1_001 }, (_, index) => ({ name: `l${index}` })))

  expect(seen).toEqual(['a', 'b'])
  expect(many).toEqual({ created: 1_001, rejected: [] })
  expect((await $.do('await $.Lead.count()')).result).toBe(1_001)
  await local.close()
})

test('a tenant on disk is there again when it is opened again', async () => {
  const path = mkdtempSync(join(tmpdir(), 'tildebase-local-'))
  const first = await localTildebase({ tenant: 'acme', path })
  await tildebase(first).Contact.create({ name: 'Ada' })
  await first.close()

  const second = await localTildebase({ tenant: 'acme', path })

  expect(await tildebase(second).Contact.count()).toBe(1)
  await expect(tildebase({ ...second, apiKey: first.apiKey, retries: 0 }).Contact.count()).rejects.toMatchObject({
    code: 'unauthorized',
  })
  await second.close()
  rmSync(path, { recursive: true })
})

test('another tenant is not reached', async () => {
  const local = await localTildebase({ tenant: 'acme' })

  await expect(tildebase({ ...local, tenant: 'other' }).Contact.count()).rejects.toThrow(
    'Only the tenant acme is open in this process.',
  )
  await local.close()
})

test('a program brings its own types and hooks, and TypeScript knows them', async () => {
  const local = await localTildebase({
    nouns: { Ship },
    hooks(on) {
      on.Ship.creating((draft) => ({ name: draft.name?.trim() }))
      on.Ship.launching((ship, $, args) => {
        if (!ship.captain || $.Contact.get(ship.captain)?.stage !== 'Qualified') {
          throw new Error(`${ship.name} needs a qualified captain to leave ${args.harbour}.`)
        }
        // @ts-expect-error a hook before the verb only reads
        if (ship.status === 'Planned') $.Contact.create
        // @ts-expect-error ships have no stage
        ship.stage
      })
      on.Ship.launched(async (ship, $, event) => {
        await $.Activity.create({ subject: `${event.data.name} was launched`, type: 'Note', contact: ship.captain })
      })
      // @ts-expect-error ships are not qualified
      on.Ship.qualified
    },
  })
  const $ = tildebase(local)
  const ada = await $.Contact.create({ name: 'Ada' })
  const ship = await $.Ship.create({ name: ' Beagle ', captain: ada.$id })

  await expect($.Ship.launch(ship.$id, { harbour: 'Devonport' })).rejects.toThrow(
    'Beagle needs a qualified captain to leave Devonport.',
  )
  await $.Contact.qualify(ada.$id)
  const { status } = await $.Ship.launch(ship.$id, { harbour: 'Devonport' })
  for (let tries = 0; tries < 500 && (await $.Activity.count()) === 0; tries++) await nextMillisecond()

  expect(status).toBe('Afloat')
  expect((await $.Activity.findOne())?.subject).toBe('Beagle was launched')
  await local.close()
})
