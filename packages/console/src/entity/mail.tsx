import { Problem } from '@tildebase/client'
import { useState } from 'preact/hooks'
import { keptDraft, useDraft } from '../drafts.ts'
import { State } from '../parts/value.tsx'
import { asOf, href } from '../place.ts'
import { mayChange } from '../service/access.ts'
import { invalidate, useData } from '../service/cache.ts'
import { may } from '../service/rights.ts'
import { nouns, type Page } from '../service/schema.ts'
import { request } from '../service/service.ts'
import { write } from '../service/write.ts'
import { t } from '../texts/text.ts'
import { say, sayError } from '../toast.ts'
import { Act } from '../ui/basics.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { LongTextField, TextField } from '../ui/inputs.tsx'
import { Failure, Loading } from '../ui/states.tsx'
import type { Entity } from '../values/entity.ts'
import { agoText, momentText } from '../values/format.ts'
import { wordsOf } from '../values/noun.ts'

const TYPE = 'Message'
const SHOWN = 20

/** A letter that is being written. */
interface Letter {
  readonly to: string
  readonly subject: string
  readonly body: string
  /** The message that it answers. */
  readonly inReplyTo?: string
}

/** Whether an entity has a thread of messages: a contact, or a ticket. */
export function hasMail(type: string): boolean {
  return (type === 'Contact' || type === 'Ticket') && may('read', nouns.value.get(TYPE))
}

/** The messages with a contact or about a ticket, newest first, and the way to write another one. */
export function Mail({ entity }: { entity: Entity }) {
  const noun = nouns.value.get(TYPE)!
  const isTicket = entity.$type === 'Ticket'
  const id = entity.$id
  const filter = isTicket ? { ticket: id } : { $or: [{ recipient: id }, { sender: id }] }
  const found = useData<Page>(
    ['mail', id, asOf.value],
    (signal) =>
      request('GET', `/${TYPE}`, {
        query: { filter, sort: '-$createdAt', limit: SHOWN, asOf: asOf.value ?? undefined },
        signal,
      }),
    { types: asOf.value === null ? [TYPE] : [] },
  )
  const draft = `letter ${id}`
  const [letter, setLetter] = useState<Letter | null>(() => keptDraft(draft))
  const messages = found.value?.results ?? []
  const address = isTicket ? 'ticket' : String(entity.email ?? '')
  const writes = mayChange(noun) && (!isTicket || mayChange(nouns.value.get('Ticket'))) && address !== ''
  if (!found.value && !found.error) return <Loading />
  if (messages.length === 0 && !writes && !found.error) return null
  return (
    <section class="panel mail" aria-labelledby={`${id}-mail`}>
      <div class="panel-head">
        <h2 id={`${id}-mail`}>{t('E-mail')}</h2>
        {writes && (
          <button type="button" onClick={() => setLetter({ to: address, subject: '', body: '' })}>
            <Icon name="edit" /> {isTicket ? t('Write an answer') : t('Write an e-mail')}
          </button>
        )}
      </div>
      <Failure error={found.error} onRetry={found.reload} />
      {messages.length === 0 && found.value && <p class="hint">{t('No messages yet.')}</p>}
      <ol>
        {messages.map((message) => (
          <MessageLine
            key={message.$id}
            message={message}
            writes={writes}
            {...(!isTicket && { onAnswer: () => setLetter(answerTo(message, address)) })}
          />
        ))}
      </ol>
      {found.value?.hasMore && (
        <a class="more" href={href([TYPE], { filter: JSON.stringify(filter) })}>
          {t('All messages')}
        </a>
      )}
      {letter && (
        <LetterDialog
          draft={draft}
          letter={letter}
          isAnswer={isTicket}
          onSend={async (given) => {
            await post(isTicket ? replyOf(id, given) : newMessage(id, given))
            setLetter(null)
          }}
          onClose={() => setLetter(null)}
        />
      )}
    </section>
  )
}

function MessageLine(props: { message: Entity; writes: boolean; onAnswer?: () => void }) {
  const { message, writes, onAnswer } = props
  const isIn = message.direction === 'In'
  const status = String(message.status)
  const time = String(message.sentAt ?? message.$createdAt)
  const who = isIn ? String(message.from ?? '') : Array.isArray(message.to) ? message.to.join(', ') : ''
  return (
    <li>
      <div class="note-head">
        <b>
          <a href={href([TYPE, message.$id])}>{String(message.subject || t('No subject'))}</a>
        </b>
        {!isIn && <State value={status} values={wordsOf(nouns.value.get(TYPE)?.fields.status)} />}
        <span>{who !== '' && (isIn ? t('from {}', who) : t('written to {}', who))}</span>
        <time dateTime={time} title={momentText(time)}>
          {agoText(time)}
        </time>
        {writes && isIn && onAnswer && (
          <button type="button" class="quiet" onClick={onAnswer}>
            {t('Answer')}
          </button>
        )}
        {writes && (status === 'Failed' || status === 'Draft') && !isIn && (
          <Act class="quiet" onRun={() => post([sendOf(message.$id)]).catch(sayError)}>
            {status === 'Failed' ? t('Send again') : t('Send')}
          </Act>
        )}
      </div>
      <p>{String(message.body ?? '')}</p>
      {typeof message.error === 'string' && <p class="error">{message.error}</p>}
    </li>
  )
}

/** The form of a letter. An answer in a ticket has its receiver and its subject from the thread. */
function LetterDialog(props: {
  draft: string
  letter: Letter
  isAnswer: boolean
  onSend: (letter: Letter) => Promise<void>
  onClose: () => void
}) {
  const kept = useDraft(props.draft, props.letter, ({ subject, body }) => subject === '' && body.trim() === '')
  const letter = kept.draft
  const set = (patch: Partial<Letter>) => kept.set((old) => ({ ...old, ...patch }))
  return (
    <FormDialog
      title={props.isAnswer ? t('Write an answer') : t('Write an e-mail')}
      submit={t('Send')}
      onSubmit={() =>
        kept.save(async () => {
          await props.onSend(letter)
          kept.forget()
        })
      }
      onClose={() => {
        kept.forget()
        props.onClose()
      }}
    >
      {!props.isAnswer && (
        <>
          <TextField label={t('To')} field="to" required value={letter.to} onChange={(to) => set({ to })} />
          <TextField
            label={t('Subject')}
            field="subject"
            required
            value={letter.subject}
            onChange={(subject) => set({ subject })}
          />
        </>
      )}
      <LongTextField
        label={t('Text')}
        field="text"
        rows={10}
        required
        hint={t('Markdown makes headings, lists and links.')}
        value={letter.body}
        onChange={(body) => set({ body })}
      />
    </FormDialog>
  )
}

interface Operation {
  readonly id: string
  readonly method: 'POST'
  readonly path: string
  readonly body?: object
}

/** A new message to a contact, and the verb that sends it. */
function newMessage(contact: string, { to, subject, body, inReplyTo }: Letter): Operation[] {
  const addresses = to.split(/[,;]/).map((one) => one.trim())
  const message = {
    channel: 'Email',
    to: addresses.filter((one) => one !== '').map(checked),
    subject: subject.trim(),
    body,
    recipient: contact,
    ...(inReplyTo && { inReplyTo }),
  }
  return [{ id: 'message', method: 'POST', path: `/${TYPE}`, body: message }, sendOf('${message.$id}')]
}

function checked(address: string): string {
  if (!/[^\s@<>]+@[^\s@<>]+/.test(address)) throw new Error(t('“{}” is not an e-mail address.', address))
  return address
}

function replyOf(ticket: string, { body }: Letter): Operation[] {
  return [{ id: 'send', method: 'POST', path: `/Ticket/${ticket}/reply`, body: { body } }]
}

function sendOf(message: string): Operation {
  return { id: 'send', method: 'POST', path: `/${TYPE}/${message}/send` }
}

function answerTo(message: Entity, address: string): Letter {
  const subject = String(message.subject ?? '')
  return {
    to: String(message.replyTo ?? message.from ?? address),
    subject: /^re:/i.test(subject) ? subject : `Re: ${subject}`,
    body: '',
    inReplyTo: message.$id,
  }
}

interface Result {
  readonly status: number
  readonly body: { readonly error?: string; readonly message?: string } | null
  readonly warnings?: readonly { readonly warning: string }[]
}

/** Writes and sends in one transaction: a letter that cannot be sent leaves nothing behind. */
async function post(operations: readonly Operation[]): Promise<void> {
  const body = { atomic: true, operations }
  const { value } = await write<{ results: Result[] }>({ path: '/batch', body, type: TYPE }).catch(asItsCause)
  invalidate(new Set(['Ticket']))
  const isWaiting = value.results.some(({ warnings = [] }) => warnings.some((one) => one.warning === 'not_configured'))
  if (isWaiting) say(t('The message is kept, but it waits: no mail server is set up for sending.'), { tone: 'bad' })
  else say(t('The message is being sent.'))
}

/** The reason of the operation that failed, in place of that of the batch. */
function asItsCause(reason: unknown): never {
  const results = reason instanceof Problem && Array.isArray(reason.about.results) ? reason.about.results : []
  const failed = (results as unknown as Result[]).find(({ status, body }) => status >= 400 && body?.message)
  const { error = '', message = '', ...about } = failed?.body ?? {}
  throw failed ? new Problem(error as Problem['code'], message, about) : reason
}
