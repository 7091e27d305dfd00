import { expect, test } from 'vitest'
import { Scheduler } from './scheduler.ts'

test('a job that has failed is left alone for a while, also when the tenant is woken for another one', async () => {
  const clock = { at: 1_000, now: () => clock.at }
  const asked: number[] = []
  const scheduler = new Scheduler({ slug: 'acme', clock, alarm: { wakeAt: (at) => void asked.push(at) } })
  const runs = { failing: 0, other: 0 }
  const fail = () => {
    runs.failing++
    throw new Error('The disk is full.')
  }
  scheduler.jobs.push({ due: () => 0, run: fail })
  scheduler.jobs.push({ due: () => clock.at, run: () => void runs.other++ })

  await scheduler.wake()
  clock.at += 1
  await scheduler.wake()
  const soon = { ...runs }
  clock.at += 5_000
  await scheduler.wake()

  expect(soon).toEqual({ failing: 1, other: 2 })
  expect(runs).toEqual({ failing: 2, other: 3 })
})

test('a job that has failed is due again after a while', async () => {
  const clock = { at: 1_000, now: () => clock.at }
  const asked: number[] = []
  const scheduler = new Scheduler({ slug: 'acme', clock, alarm: { wakeAt: (at) => void asked.push(at) } })
  scheduler.jobs.push({ due: () => 0, run: () => Promise.reject(new Error('The disk is full.')) })

  await scheduler.wake()

  expect(asked.at(-1)).toBe(6_000)
  expect(scheduler.due()).toBe(6_000)
})

test('while requests wait, jobs that are due have their turns one after the other', async () => {
  const ms = { now: 0 }
  const turns = { now: () => ms.now, isAwaited: () => true, run: () => Promise.reject() }
  const scheduler = new Scheduler({ slug: 'acme', clock: { now: () => 1_000 }, alarm: { wakeAt: () => {} }, turns })
  const runs: string[] = []
  for (const name of ['brief', 'long', 'last']) {
    const run = () => {
      runs.push(name)
      if (name === 'long') ms.now += 8
    }
    scheduler.jobs.push({ due: () => 0, run })
  }

  await scheduler.wake()
  const first = runs.splice(0)
  await scheduler.wake()

  expect(first).toEqual(['brief', 'long'])
  expect(runs).toEqual(['last', 'brief', 'long'])
})

test('a wake-up asks each job twice when it is due: before it runs, and for the next time', async () => {
  const clock = { at: 1_000, now: () => clock.at }
  const asked: number[] = []
  const scheduler = new Scheduler({ slug: 'acme', clock, alarm: { wakeAt: (at) => void asked.push(at) } })
  const questions = { due: 0, later: 0 }
  let next = 1_000
  const due = () => {
    questions.due++
    return next
  }
  const later = () => {
    questions.later++
    return 5_000
  }
  const run = () => {
    next = 7_000
  }
  scheduler.jobs.push({ due, run }, { due: later, run: () => {} })

  await scheduler.wake()
  const whenDue = { ...questions }
  await scheduler.wake()

  expect(whenDue).toEqual({ due: 2, later: 2 })
  expect(questions).toEqual({ due: 3, later: 3 })
  expect(asked).toEqual([5_000, 5_000, 5_000])
})

test('a job that takes long does not keep the others from their time', async () => {
  const clock = { at: 1_000, now: () => clock.at }
  const asked: number[] = []
  const scheduler = new Scheduler({ slug: 'acme', clock, alarm: { wakeAt: (at) => void asked.push(at) } })
  scheduler.jobs.push({ due: () => 0, run: () => new Promise(() => {}) }, { due: () => 5_000, run: () => {} })

  void scheduler.wake()

  expect(asked).toEqual([5_000])
})
