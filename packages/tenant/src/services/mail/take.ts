import type { FileValue } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import type { Grant } from '../../grant/grant.ts'
import type { IncomingMail } from '../../ports.ts'
import type { Transactor } from '../../write/group-commit.ts'
import type { Write } from '../../write/write.ts'
import { admitContents, dropUnneeded } from '../files/contents.ts'
import { type ReceivedContent, receiveContent } from '../files/receive.ts'
import { runNow } from '../scripts/run-write.ts'
import { type KeptMail, type Received, receive } from './receive.ts'

/** Keeps an e-mail with its attachments, in one commit with what `also` writes. */
export async function takeMail(
  transactor: Transactor,
  grant: Grant,
  mail: IncomingMail,
  also: (write: Write) => void,
): Promise<Received> {
  const { engine } = transactor
  const { kept, contents } = await keepAttachments(engine, mail)
  try {
    return await runNow(transactor, grant, {}, (write) => {
      admitContents(write, contents)
      const received = receive(write, kept)
      also(write)
      return received
    })
  } finally {
    await dropUnneeded(engine, contents)
  }
}

/** Stores the bytes of attachments, for a write that will name them. Where nothing stores files they are left out. */
export async function keepAttachments(
  engine: Engine,
  mail: IncomingMail,
): Promise<{ readonly kept: KeptMail; readonly contents: readonly ReceivedContent[] }> {
  const contents: ReceivedContent[] = []
  if (!engine.ports.blobs) return { kept: { ...mail, attachments: [] }, contents }
  try {
    for (const { bytes, type, name } of mail.attachments) {
      contents.push(await receiveContent(engine, [bytes], { type, name }, bytes.length))
    }
  } catch (reason) {
    await dropUnneeded(engine, contents)
    throw reason
  }
  const attachments = contents.map(({ hash, size, type, name }): FileValue => ({ hash, size, type, name }))
  return { kept: { ...mail, attachments }, contents }
}
