import { expect, test } from 'vitest'
import { declarationOf, hooks, noun, workflow } from '../index.ts'

const Ticket = noun('Ticket', {
  breached: 'boolean = false',
  respondBy: 'datetime',
  breach: { event: 'breached', from: ['Open', 'InProgress'], set: { breached: true, status: 'Escalated' } },
  $timers: { sla: { at: 'respondBy', run: 'breach', when: { firstResponseAt: null } } },
})

test('a declaration of a built-in type may use its fields and states', () => {
  expect([Ticket.stateField, Ticket.verbs.breach?.from, Ticket.fields.subject?.kind]).toEqual([
    'status',
    ['Open', 'InProgress'],
    'string',
  ])
  // Only the addition is declared.
  expect(Object.keys(declarationOf([Ticket]).types!.Ticket!)).toEqual(['breached', 'respondBy', 'breach', '$timers'])
  expect(() => noun('Ticket', { breach: { event: 'breached', set: { state: 'Escalated' } } })).toThrow(
    'breach: sets state, which is not a field of this type',
  )
  // The timers of the built-in type stay, next to the new one.
  const { timers } = noun('Activity', { callAt: 'datetime', $timers: { call: { at: 'callAt', run: 'remind' } } })
  expect(Object.keys(timers)).toEqual(['remind', 'call'])
})

test('hooks of an extended built-in type know its fields and verbs', () => {
  const { body } = hooks(Ticket, {
    creating: (ticket) => ({ subject: ticket.subject?.trim(), breached: ticket.priority === 'Urgent' }),
    async replied(ticket, $, event) {
      if (!ticket.firstResponseAt) await $.Ticket.update(ticket.$id, { firstResponseAt: event.timestamp })
    },
    breached: async (ticket, $) => void (await $.Ticket.start(ticket.$id)),
  })

  expect(Object.keys(body)).toEqual(['creating', 'replied', 'breached'])
})

test('a step of code takes a condition, and a step of code that undoes it', () => {
  const { body } = workflow('Escalate', {
    triggerEvent: 'Ticket.created',
    steps: [
      { ask: { of: 'role:Admin', title: 'Escalate?' } },
      {
        if: { 'steps.0.answer': 'Approved' },
        code: async (event, $) => (await $.Ticket.escalate(event.data.$id)).status,
        undo: { code: async (event, $) => void (await $.Ticket.start(event.data.$id)) },
      },
    ],
  })

  const [, escalate] = (body as { steps: { code: string; undo: { code: string } }[] }).steps
  expect(escalate).toMatchObject({ if: { 'steps.0.answer': 'Approved' } })
  expect(escalate!.code).toContain('$.Ticket.escalate(')
  expect(escalate!.undo.code).toContain('$.Ticket.start(')
})
