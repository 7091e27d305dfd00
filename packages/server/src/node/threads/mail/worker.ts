import { constants } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { parseMail } from '../../../doors/mail/parse.ts'
import { systemSeal } from '../../../host/ports.ts'
import { refusalOf } from '../flows.ts'
import { giveWay } from '../priority.ts'
import type { ParsedMail } from './parser.ts'

/** Takes the messages of a `MailParser` apart, one after the other. */
giveWay(constants.priority.PRIORITY_BELOW_NORMAL)

parentPort!.on('message', async (raw: Uint8Array) => {
  parentPort!.postMessage(await parsed(raw))
})

async function parsed(raw: Uint8Array): Promise<ParsedMail> {
  try {
    return { mail: await parseMail(raw, systemSeal.hasher('sha256')) }
  } catch (reason) {
    return { refusal: refusalOf(reason) }
  }
}
