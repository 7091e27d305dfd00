import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tildebase } from '@tildebase/client'
import { localTildebase, MovedClock } from '@tildebase/server'
import { afterAll, expect, test } from 'vitest'
import { testHost } from '../host.ts'
import { Receiver } from '../receiver.ts'
import { verifies } from '../verifies.ts'

const root = mkdtempSync(join(tmpdir(), 'tildebase-folder-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const FILES = {
  'trial.ts': `import { noun } from '@tildebase/nouns'
export const Trial = noun('Trial', {
  email: 'string!',
  endsAt: 'datetime',
  status: 'Running | Ended = Running',
  end: { event: 'ended', from: 'Running', set: { status: 'Ended' } },
  $timers: { over: { at: 'endsAt', from: 'Running', run: 'end' } },
})
`,
  'hooks.ts': `import { hooks } from '@tildebase/nouns'
import { Trial } from './trial.ts'
const DAYS: number = 30
export default hooks(Trial, {
  creating: (trial) => ({ email: trial.email?.trim().toLowerCase() }),
})
`,
  'end.ts': `import { workflow } from '@tildebase/nouns'
export const goodbye = workflow('Goodbye', {
  triggerEvent: 'Trial.ended',
  steps: [{ code: async (event, $) => { await $.Activity.create({ subject: event.data.email as string, type: 'Email' }) } }],
})
export const monthly = workflow('Monthly', {
  schedule: '0 8 1 * *',
  steps: [{ verb: 'create', type: 'Activity', args: { subject: 'Monthly', type: 'Note' } }],
})
`,
}

function folder(name: string, files: { readonly [file: string]: string }): string {
  const path = join(root, name)
  mkdirSync(path, { recursive: true })
  for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text)
  return path
}

verifies('schema.code', 'timers, hooks and workflows of a folder run when a test moves the clock', async () => {
  const clock = new MovedClock('2026-01-01T00:00:00Z')
  const local = await localTildebase({ folder: folder('trials', FILES), clock })
  const $: any = tildebase(local)
  const subjects = async () =>
    (await $.Activity.find({}, { sort: 'createdAt' })).map((one: any) => [one.subject, one.$createdAt])

  const trial = await $.Trial.create({ email: ' Ada@Example.org', endsAt: '2026-01-31T12:00:00Z' })
  await clock.advance('30d')
  const before = await $.Trial.get(trial.$id)
  await clock.advance('1d')
  const after = await $.Trial.get(trial.$id)
  await clock.advance('1d')

  expect(trial).toMatchObject({ email: 'ada@example.org', $createdAt: '2026-01-01T00:00:00.000Z' })
  expect([before.status, after.status]).toEqual(['Running', 'Ended'])
  // Each happened at its own time, although the clock moved in leaps.
  expect(after.$updatedAt).toBe('2026-01-31T12:00:00.000Z')
  expect(await subjects()).toEqual([
    ['Monthly', '2026-01-01T08:00:00.000Z'],
    ['ada@example.org', '2026-01-31T12:00:00.000Z'],
    ['Monthly', '2026-02-01T08:00:00.000Z'],
  ])
  await local.close()
})

verifies('schema.code', 'code sees the time of the moved clock', async () => {
  const clock = new MovedClock('2026-01-01T00:00:00Z')
  const local = await localTildebase({
    folder: folder('times', {
      'trial.ts': FILES['trial.ts'],
      'times.ts': `import { hooks, workflow } from '@tildebase/nouns'
import { Trial } from './trial.ts'
export const onTrial = hooks(Trial, { creating: () => ({ endsAt: new Date(Date.now() + 86_400_000).toISOString() }) })
export const noted = workflow('Noted', {
  triggerEvent: 'Trial.ended',
  steps: [{ code: async (event, $) => void (await $.Activity.create({ subject: String(new Date().toISOString()), type: 'Note' })) }],
})
`,
    }),
    clock,
  })
  const $: any = tildebase(local)

  const trial = await $.Trial.create({ email: 'ada@example.org' })
  await clock.advance('2d')

  expect(trial.endsAt).toBe('2026-01-02T00:00:00.000Z')
  expect((await $.Activity.findOne()).subject).toBe('2026-01-02T00:00:00.000Z')
  await local.close()
})

test('a webhook of a folder reaches a receiver of the test where that is allowed', async () => {
  const receiver = await Receiver.start()
  const files = folder('hooked', {
    'hook.ts': `import { webhook } from '@tildebase/nouns'
export default webhook('Log', { url: '${receiver.url}', events: ['Contact.created'] })
`,
  })
  await expect(localTildebase({ folder: files })).rejects.toThrow('url: must be an https URL')
  const clock = new MovedClock()
  const local = await localTildebase({ folder: files, insecure: true, clock })

  await tildebase(local).Contact.create({ name: 'Ada' })
  await clock.advance('1s')

  expect(receiver.requests.map(({ body }) => body.type)).toEqual(['Contact.created'])
  await local.close()
  await receiver.stop()
})

test('a data folder in use is refused, and is free after the end', async () => {
  const host = await testHost()
  const other = join(root, 'alone')
  const first = await localTildebase({ path: other })

  await expect(localTildebase({ path: host.data })).rejects.toThrow('Another process uses the data folder')
  await expect(localTildebase({ path: other })).rejects.toThrow('Another process uses the data folder')
  await first.close()
  const second = await localTildebase({ path: other })
  await second.close()
  await host.stop()
})

test('a fault in the folder is the fault of the start', async () => {
  const faulty = folder('faulty', {
    'hook.ts': FILES['hooks.ts'].replace('trial.email', 'DAYS; trial.email') + FILES['end.ts'],
  })

  await expect(localTildebase({ folder: faulty })).rejects.toThrow(/faulty\/hook\.ts:5: /)
})
