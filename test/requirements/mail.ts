import { requirements } from './requirement.ts'

export const mail = requirements('automation', {
  W5: {
    'mail.send': 'A message on the channel Email is queued by its verb and delivered by the mail server.',
    'mail.retry': 'Every attempt to deliver a message has the same Message-ID.',
    'mail.failed': 'A message fails when it is refused permanently, or when its retries are used up.',
    'mail.addresses': 'Line breaks in header fields, and addresses that are none, are refused.',
    'mail.from': 'A message is sent from an address of the inbox, or from that of the transport.',
    'mail.unconfigured': 'A channel without a transport leaves the message queued, with a warning.',
    'mail.smtp': 'An Integration sends by a mail server of the tenant; a refused recipient does not stop the others.',
    'mail.workflow': 'A workflow sends messages.',
    'mail.tls': 'Nothing is sent to a mail server whose certificate is not trusted.',
    'mail.flood': 'Of 10,000 messages at once, in either direction, none is lost and none doubled.',
    'mail.loop': 'Automatic messages to one address are bounded.',
  },
  W6: {
    'mail.in': 'An e-mail becomes a Message that is linked to its Contact.',
    'mail.imap': 'An Integration fetches the mailbox of a tenant, each message once.',
    'mail.mailbox': 'The mailbox of the service gives each message to the tenant whose inbox has its recipient.',
    'mail.in.once': 'A repeated Message-ID is ignored.',
    'mail.in.rights': 'A raw message needs the right to write messages, and has at most 25 MiB.',
    'mail.hostile': 'A message that cannot be read is refused, and those after it are fetched.',
    'mail.parse': 'Messages of every shape are read as an independent parser reads them.',
    'mail.ticket': 'A new thread opens a Ticket; an answer is added to it and reopens a closed one.',
    'mail.bounce': 'A bounce sets the message that it names to Failed.',
    'mail.debian':
      'Messages leave by Postfix and come from Dovecot, as Debian has them; a bounce of Postfix is understood.',
    'mail.automatic': 'Auto-replies make no Contact and no Ticket.',
  },
  W7: {
    'mail.invitation': 'With a transport, an invitation is sent by e-mail.',
    'mail.reset': 'A link for a new password is sent, with the same answer for every address.',
    'mail.reset.host': 'The link has the address of the service, whatever the Host of the request was.',
    'mail.notices': 'Asks, mentions, assignments and changesets are sent to people, as each person chooses.',
  },
})
