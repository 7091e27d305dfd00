import { afterAll, beforeAll } from 'vitest'
import { type TestApp, testApp } from '../host.ts'
import { openImap, type TestImap } from './imap.ts'
import { openSmtp, type TestSmtp } from './smtp.ts'

/** A service that reads its mailbox and can reach a server that takes mail. */
export interface MailboxStage {
  readonly imap: TestImap
  readonly smtp: TestSmtp
  readonly app: TestApp
  /** The ids of the messages that a tenant has, the oldest first. */
  messages(tenant: string): Promise<string[]>
}

interface MailboxOptions {
  readonly username: string
  readonly password: string
  readonly smtp?: Parameters<typeof openSmtp>[0]
  /** More settings of the service, once the server for outgoing mail is open. */
  readonly settings?: (smtp: TestSmtp) => { readonly [name: string]: string }
}

/** Opens the servers and the service before the tests of a file, and stops them after the last. */
export function useMailbox({ username, password, smtp: options, settings }: MailboxOptions): MailboxStage {
  let imap: TestImap
  let smtp: TestSmtp
  let app: TestApp
  beforeAll(async () => {
    imap = await openImap(username, password)
    smtp = await openSmtp(options)
    app = await testApp({
      TILDE_IMAP_URL: `imap://${encodeURIComponent(username)}:${password}@127.0.0.1:${imap.port}`,
      TILDE_IMAP_INTERVAL: '100ms',
      TILDE_WEBHOOKS_INSECURE: '1',
      ...settings?.(smtp),
    })
  })
  afterAll(async () => {
    await app.stop()
    await imap.close()
    await smtp.close()
  })
  return {
    get imap() {
      return imap
    },
    get smtp() {
      return smtp
    },
    get app() {
      return app
    },
    async messages(tenant) {
      const { body } = await app.request('GET', `/~${tenant}/Message?sort=$createdAt`)
      return body.results.map((one: any) => one.messageId)
    },
  }
}

/** A short message to an address. */
export const rawMessage = (id: string, to: string) =>
  `From: Ada <ada@example.org>\r\nTo: ${to}\r\nSubject: Roof\r\nMessage-ID: <${id}@example.org>\r\n\r\nIt leaks.\r\n`
