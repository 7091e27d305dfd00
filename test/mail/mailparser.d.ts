/** The parts of mailparser that tests use: it has no types of its own. */
declare module 'mailparser' {
  interface Addresses {
    readonly value: readonly {
      readonly address?: string
      readonly name: string
      readonly group?: readonly { readonly address?: string }[]
    }[]
  }
  export interface ParsedMail {
    readonly messageId?: string
    readonly from?: Addresses
    readonly to?: Addresses | readonly Addresses[]
    readonly cc?: Addresses | readonly Addresses[]
    readonly subject?: string
    readonly text?: string
    readonly html?: string | false
    readonly inReplyTo?: string
    readonly references?: string | readonly string[]
    readonly headers: ReadonlyMap<string, unknown>
    readonly headerLines: readonly { readonly key: string; readonly line: string }[]
    readonly attachments: readonly {
      readonly filename?: string
      readonly contentType: string
      readonly content: Buffer
    }[]
  }
  export function simpleParser(raw: Uint8Array | string, options?: object): Promise<ParsedMail>
}
