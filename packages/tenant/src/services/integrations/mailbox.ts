import { Problem } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import type { Grant } from '../../grant/grant.ts'
import type { Mail, MailServer } from '../../ports.ts'
import { savePlace } from '../../store/automation/integrations.ts'
import type { Transactor } from '../../write/group-commit.ts'
import type { Write } from '../../write/write.ts'
import { takeMail } from '../mail/take.ts'
import { runNow } from '../scripts/run-write.ts'

/** A mailbox that is read with the rights of the person who connected it. */
interface Mailbox {
  readonly id: string
  readonly server: MailServer
  readonly grant: Grant
  /** How far it was read. */
  readonly after: string | null
}

/** What became of its messages. */
interface MailCounts {
  created: number
  unchanged: number
  failed: number
}

/** Keeps what is new in a mailbox. Each message and its place are one commit: none is lost, and none is kept twice. */
export async function fetchMailbox(
  transactor: Transactor,
  { id, server, grant, after }: Mailbox,
  counts: MailCounts,
): Promise<void> {
  const { engine } = transactor
  for await (const { mail, place } of reading(mailOf(engine).fetch(server, after, engine.slug))) {
    if (engine.scheduler.isResting) throw new Problem('unavailable', 'The service was stopped. The run begins again.')
    const keepPlace = (write: Write) => savePlace(write.sql, id, place)
    const taken = mail && (await takeMail(transactor, grant, mail, keepPlace).catch(refused))
    if (taken === null) {
      await runNow(transactor, grant, {}, keepPlace)
      counts.failed++
    } else if (taken.isRepeated) counts.unchanged++
    else counts.created++
  }
}

const REFUSALS: ReadonlySet<string> = new Set(['validation_error', 'rejected', 'conflict', 'too_large'])

/** A message that the rules of the tenant refuse: those after it are not to wait for it. */
function refused(reason: unknown): null {
  if (reason instanceof Problem && REFUSALS.has(reason.code)) return null
  throw reason
}

/** Asks a server that messages are sent by whether it still lets us in. */
export async function checkSmtp(engine: Engine, server: MailServer): Promise<void> {
  const reason = await mailOf(engine).check(server)
  if (reason !== null) throw new Problem('unavailable', `The mail server refuses us: ${reason}`)
}

function mailOf({ ports }: Engine): Mail {
  if (ports.mail) return ports.mail
  throw new Problem('not_supported', 'This service has no e-mail.')
}

/** A fault of the mailbox is the reason for which a run failed. */
async function* reading<T>(messages: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* messages
  } catch (reason) {
    if (reason instanceof Problem) throw reason
    throw new Problem('unavailable', `The mailbox could not be read: ${(reason as Error).message.slice(0, 200)}`)
  }
}
