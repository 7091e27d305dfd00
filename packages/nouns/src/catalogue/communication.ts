import { noun } from '../notation/notation.ts'

/** A message between contacts. */
export const Message = noun('Message', {
  $domain: 'communication',
  body: 'string!',
  channel: 'Email | SMS | Chat | Push',
  status: 'Draft | Sent | Delivered | Read | Failed = Draft',
  attachments: 'file[]',
  sender: '-> Contact',
  recipient: '-> Contact',
  send: { event: 'sent', from: 'Draft', set: { status: 'Sent' } },
  deliver: { event: 'delivered', from: 'Sent', set: { status: 'Delivered' } },
  read: { event: 'read', from: 'Delivered', set: { status: 'Read' } },
})
