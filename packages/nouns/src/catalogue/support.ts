import { noun } from '../notation/notation.ts'

/** A request for help. */
export const Ticket = noun('Ticket', {
  $domain: 'support',
  subject: 'string!',
  description: 'string',
  status: 'Open | Pending | InProgress | Resolved | Escalated | Closed | Reopened = Open',
  priority: 'Low | Medium | High | Urgent',
  category: 'string',
  channel: 'Email | Chat | Phone | Web | API',
  tags: 'string',
  firstResponseAt: 'datetime',
  resolvedAt: 'datetime',
  dueAt: 'datetime',
  satisfaction: 'number',
  assignee: '-> User | Contact',
  requester: '-> Contact',
  organization: '-> Organization',
  deal: '-> Deal',
  messages: '<- Message.ticket[]',
  resolve: {
    event: 'resolved',
    from: ['Open', 'Pending', 'InProgress', 'Escalated', 'Reopened'],
    set: { status: 'Resolved', resolvedAt: '$now' },
    args: 'resolution',
  },
  escalate: {
    event: 'escalated',
    from: ['Open', 'InProgress', 'Reopened'],
    set: { status: 'Escalated' },
    args: 'reason',
  },
  close: {
    event: 'closed',
    from: ['Resolved', 'Open', 'Pending', 'InProgress', 'Escalated', 'Reopened'],
    set: { status: 'Closed' },
  },
  reopen: { event: 'reopened', from: ['Closed', 'Resolved'], set: { status: 'Reopened' } },
  start: { event: 'started', from: ['Open', 'Pending', 'Reopened', 'Escalated'], set: { status: 'InProgress' } },
  hold: { event: 'held', from: ['Open', 'InProgress', 'Reopened'], set: { status: 'Pending' } },
  reply: { event: 'replied', args: ['body', 'attachments'], keeps: 'event' },
})
