import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ROOT, type TestApp, testApp } from '../host.ts'

type Done = (reason: Error | null) => void

const { fdatasync, fdatasyncSync } = fs
let held: (() => void)[] | null
let failure: Error | null
let app: TestApp

/** From here on the disk answers when it is released. */
function hold(): void {
  held = []
}

function release(): void {
  const waiting = held ?? []
  held = null
  for (const run of waiting) run()
}

beforeEach(async () => {
  held = null
  failure = null
  const sync = (file: number, done: Done) => {
    const run = () => (failure ? done(failure) : fdatasync(file, done))
    if (held) held.push(run)
    else run()
  }
  // A slow disk: its syncs are left to another thread, until one is tried again in this one.
  let isTried = false
  const slowly = (file: number) => {
    isTried = true
    for (const end = performance.now() + 2; performance.now() < end; );
    fdatasyncSync(file)
  }
  Object.assign(fs, { fdatasync: sync, fdatasyncSync: slowly })
  syncBuiltinESMExports()
  app = await testApp()
  for (const name of ['Ada', 'Eve']) await app.request('POST', '/~acme/Contact', { name })
  // The thread has just seen that the disk is slow. It may have counted syncs of other tests before.
  for (let i = 0; i < 1_000 && !isTried; i++) await app.request('POST', '/~warm/Contact', { name: 'Joe' })
  expect(isTried).toBe(true)
})
afterEach(async () => {
  release()
  await app.stop()
  Object.assign(fs, { fdatasync, fdatasyncSync })
  syncBuiltinESMExports()
})

/** Whether an answer has come after a while. */
const isOpen = async (answer: Promise<unknown>) => (await Promise.race([answer, pause(150, 'open')])) === 'open'

test('a write is answered when the disk has it, and so is what reads it', async () => {
  hold()
  const write = app.request('POST', '/~acme/Contact', { name: 'Bob' })
  const writing = await isOpen(write)
  const read = app.request('GET', '/~acme/Contact')
  const reading = await isOpen(read)
  const other = await app.request('GET', '/~other/Contact')
  release()

  expect([writing, reading, other.status]).toEqual([true, true, 200])
  expect((await write).status).toBe(201)
  expect((await read).body.total).toBe(3)
})

test('followers receive an event when the disk has it', async () => {
  const stream = await app.fetch('/~acme/events', {
    headers: { accept: 'text/event-stream', authorization: `Bearer ${ROOT}` },
  })
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader()
  hold()
  const write = app.request('POST', '/~acme/Contact', { name: 'Bob' })
  const heard = (async () => {
    let text = ''
    while (!text.includes('Bob')) {
      const { done, value } = await reader.read()
      if (done) return `${text} (the end)`
      text += value
    }
    return text
  })()
  const waiting = await isOpen(heard)
  release()

  expect(await heard).toContain('Contact.created')
  expect(waiting).toBe(true)
  expect((await write).status).toBe(201)
  await reader.cancel()
})

test('a disk that fails is reported, and nothing is read from the file after it', async () => {
  hold()
  const write = app.request('POST', '/~acme/Contact', { name: 'Bob' })
  await isOpen(write)
  failure = Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' })
  release()

  expect((await write).status).toBe(500)
  expect((await app.request('GET', '/~acme/Contact')).status).toBe(500)
})
