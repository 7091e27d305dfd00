import type { JsonObject } from '@tildebase/nouns'
import { OPERATOR } from '@tildebase/tenant'
import fc from 'fast-check'
import { expect } from 'vitest'
import { runsOf } from '../../packages/tenant/src/services/workflows/view.ts'
import { verifies } from '../verifies.ts'
import { openAutomation, SECOND } from './bench.ts'

const MIN = 60 * SECOND

/** Steps that succeed, always fail, or fail until an organization of a name exists. */
const step = fc.record({
  kind: fc.constantFrom('good', 'bad', 'later'),
  fallback: fc.boolean(),
})
const workflow = fc.record({
  on: fc.constantFrom('created', 'created', 'updated'),
  only: fc.constantFrom('a', null, null),
  errorHandling: fc.constantFrom('Stop', 'Continue', 'Fallback'),
  retries: fc.nat(2),
  steps: fc.array(step, { minLength: 1, maxLength: 4, size: 'max' }),
})
const action = fc.record({
  do: fc.constantFrom('create', 'create', 'create', 'update', 'wait', 'wait', 'pause', 'activate', 'activate', 'open'),
  which: fc.nat(3),
  group: fc.constantFrom('a', 'b'),
  minutes: fc.integer({ min: 1, max: 20 }),
})

type Made = typeof workflow extends fc.Arbitrary<infer T> ? T : never

/** A workflow in the plainest words: a list of runs, each looked at minute by minute. */
class Simulated {
  readonly made: Made
  active = true
  failures = 0
  readonly notes: string[] = []
  readonly runs: { event: string; step: number; tries: number; due: number; failed: boolean; state: string }[] = []

  constructor(made: Made) {
    this.made = made
  }

  see(event: string, group: string, id: string, now: number): void {
    const { on, only } = this.made
    if (!this.active || on !== event || (only !== null && only !== group)) return
    this.runs.push({ event: id, step: 0, tries: 0, due: now, failed: false, state: 'open' })
  }

  /** Continues with what is due, in the order of time. */
  work(now: number, isOpen: boolean): void {
    for (;;) {
      if (!this.active) return
      const run = this.runs
        .filter((one) => one.state === 'open' && one.due <= now)
        .reduce<(typeof this.runs)[number] | null>((first, one) => (first && first.due <= one.due ? first : one), null)
      if (!run) return
      this.#go(run, now, isOpen)
    }
  }

  #go(run: (typeof this.runs)[number], now: number, isOpen: boolean): void {
    const { steps, errorHandling, retries } = this.made
    while (run.state === 'open') {
      const inFallback = run.failed && errorHandling === 'Fallback'
      while (run.step < steps.length && steps[run.step]!.fallback !== inFallback) run.step++
      const hasFallback = steps.some(({ fallback }) => fallback)
      if (inFallback && !hasFallback) {
        this.#end(run, 'Failed')
        return
      }
      const current = steps[run.step]
      if (!current) {
        this.#end(run, 'Succeeded')
        return
      }
      const works = current.kind === 'good' || (current.kind === 'later' && isOpen)
      run.tries++
      if (works) {
        if (current.kind === 'good') this.notes.push(`${run.event} ${run.step}`)
        run.step++
        run.tries = 0
      } else if (run.tries <= retries) {
        run.due = now + MIN * 2 ** (run.tries - 1)
        return
      } else {
        if (errorHandling === 'Stop' || inFallback) {
          this.#end(run, 'Failed')
          return
        }
        run.failed = true
        run.step = errorHandling === 'Fallback' ? 0 : run.step + 1
        run.tries = 0
      }
    }
  }

  #end(run: (typeof this.runs)[number], state: string): void {
    run.state = state
    this.failures = state === 'Failed' ? this.failures + 1 : 0
    if (this.failures >= 5) this.active = false
  }
}

verifies(
  [
    'workflow.event',
    'workflow.once',
    'workflow.retries',
    'workflow.errors',
    'workflow.pause',
    'workflow.counts',
    'workflow.runs',
  ],
  'random workflows do what a simple simulation does',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(workflow, { minLength: 1, maxLength: 3 }),
        fc.array(action, { minLength: 10, maxLength: 40, size: 'max' }),
        async (made, actions) => {
          const a = openAutomation()
          const gate = 'organization_gate00'
          let isOpen = false
          const simulated = made.map((one) => new Simulated(one))
          const ids = made.map(({ on, only, errorHandling, retries, steps }, w) => {
            const draft: JsonObject = {
              name: `w${w}`,
              triggerEvent: `Contact.${on}`,
              ...(only && { filter: { title: only } }),
              errorHandling,
              retryPolicy: { retries, backoff: '1m' },
              steps: steps.map(({ kind, fallback }, i) => ({ ...stepOf(kind, w, i, gate), fallback })),
            }
            const { $id } = a.run('Workflow', 'create', undefined, draft)
            a.run('Workflow', 'activate', $id)
            return $id
          })
          const contacts: { id: string; group: string; count: number }[] = []
          const step = () => {
            for (const one of simulated) one.work(a.clock.at, isOpen)
          }
          for (const { do: verb, which, group, minutes } of actions) {
            const w = which % made.length
            const contact = contacts[which % Math.max(contacts.length, 1)]
            if (verb === 'wait') {
              for (let i = 0; i < minutes; i++) {
                a.clock.at += MIN
                step()
                await a.settle()
              }
            } else if (verb === 'open' && !isOpen) {
              const data = { $id: gate, name: 'Gate' }
              a.tenant.run(OPERATOR, { type: 'Organization', verb: 'create', data, keepId: true })
              isOpen = true
            } else if (verb === 'create') {
              const { $id } = a.run('Contact', 'create', undefined, { name: 'c', title: group })
              contacts.push({ id: $id, group, count: 0 })
              for (const one of simulated) one.see('created', group, $id, a.clock.at)
            } else if (verb === 'update' && contact) {
              contact.group = group
              a.run('Contact', 'update', contact.id, { title: group, count: ++contact.count })
              for (const one of simulated) one.see('updated', group, contact.id, a.clock.at)
            } else if (verb === 'pause' && simulated[w]!.active) {
              a.run('Workflow', 'pause', ids[w]!)
              simulated[w]!.active = false
            } else if (verb === 'activate' && !simulated[w]!.active) {
              a.run('Workflow', 'activate', ids[w]!)
              Object.assign(simulated[w]!, { active: true, failures: 0 })
            }
            step()
            await a.settle()
          }

          for (const [w, one] of simulated.entries()) {
            const runs = runsOf(a.tenant.engine, OPERATOR, ids[w]!, { status: null, cursor: null, limit: 100 })
            const states = (runs.results as any[]).map(({ status }) =>
              status === 'Running' || status === 'Waiting' ? 'open' : status,
            )
            expect(states.toReversed()).toEqual(one.runs.slice(-100).map(({ state }) => state))
            expect(notesOf(a, w)).toEqual(one.notes.toSorted())
            const count = (state: string) => one.runs.filter((run) => run.state === state).length
            const { runCount = 0, successCount = 0, failureCount = 0, status } = a.entity('Workflow', ids[w]!)
            expect([runCount, successCount, failureCount, status]).toEqual([
              count('Succeeded') + count('Failed'),
              count('Succeeded'),
              count('Failed'),
              one.active ? 'Activated' : 'Paused',
            ])
          }
          a.close()
        },
      ),
      { numRuns: Number(process.env.TILDE_RUNS ?? 60) },
    )
  },
  600_000,
)

/** A step that leaves a comment with its workflow, its contact and its place, or that fails. */
function stepOf(kind: string, w: number, i: number, gate: string) {
  const args = { body: `w${w} ${i}`, contact: '$event.data.$id' }
  if (kind === 'good') return { verb: 'create', type: 'Comment', args }
  const id = kind === 'bad' ? 'organization_none00' : gate
  return { verb: 'update', type: 'Organization', id, args: { [`note_${w}_${i}`]: '$event.data.$id' } }
}

/** The comments of a workflow. */
function notesOf(a: ReturnType<typeof openAutomation>, w: number): string[] {
  const comments = a.tenant.sql
    .rows(`SELECT data FROM events WHERE type = 'Comment' AND event = 'created'`)
    .map(([data]) => JSON.parse(data))
    .filter(({ body }) => body.startsWith(`w${w} `))
    .map(({ body, contact }) => `${contact} ${body.split(' ')[1]}`)
  return comments.toSorted()
}
