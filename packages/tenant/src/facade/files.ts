import type { FileValue, JsonObject, Noun } from '@tildebase/nouns'
import { Problem } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import type { FileOptions } from '../engine/options.ts'
import type { Grant } from '../grant/grant.ts'
import type { Hasher, IncomingMail } from '../ports.ts'
import { dropUnneeded, keyOfFile } from '../services/files/contents.ts'
import { type LinkTarget, openLink, sealLink } from '../services/files/links.ts'
import { blobsOf, fileOptions, type ReceivedContent, receiveContent, settled } from '../services/files/receive.ts'
import {
  admitPart,
  beginUpload,
  endUpload,
  findUpload,
  type PartCheck,
  type ReceivedPart,
  receivePart,
  type UploadState,
} from '../services/files/uploads.ts'
import type { KeptMail } from '../services/mail/receive.ts'
import { keepAttachments } from '../services/mail/take.ts'
import { hasFiles, type Sending } from '../store/files/contents.ts'
import { fileFields, filesIn } from '../write/files.ts'
import type { TenantServices } from './create-services.ts'

/** The bytes of a file, to be read in whole or in part. */
export interface OpenFile {
  readonly value: FileValue
  read(from: number, to: number): AsyncIterable<Uint8Array>
}

type Source = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

/**
 * The bytes of a tenant's files. Sending content gives no right to any other; reading needs an entity that the caller has
 * read with its own rights.
 */
export class TenantFileAccess {
  readonly #engine: Engine
  readonly #services: TenantServices

  constructor(services: TenantServices) {
    this.#engine = services.transactor.engine
    this.#services = services
  }

  /** What the operator allows. */
  get options(): FileOptions {
    return fileOptions(this.#engine)
  }

  /** Whether there is any content, or an upload. */
  get hasAny(): boolean {
    return hasFiles(this.#engine.sql)
  }

  /** Stores bytes. They are removed again unless the write that gets them as `contents` makes them part of the tenant. */
  receive(source: Source, sending: Sending, declared: number | null = null): Promise<ReceivedContent> {
    return receiveContent(this.#engine, source, sending, declared)
  }

  /** Takes a raw e-mail apart next to this thread; null where the host has no place for that. */
  parseMail(raw: Uint8Array): Promise<IncomingMail> | null {
    const { ports, slug } = this.#engine
    return ports.mail?.parse?.(raw, slug) ?? null
  }

  /** Stores the attachments of an e-mail, for the write that gets them as `contents` and keeps the e-mail. */
  receiveMail(mail: IncomingMail): Promise<{ readonly kept: KeptMail; readonly contents: readonly ReceivedContent[] }> {
    return keepAttachments(this.#engine, mail)
  }

  /** Removes the bytes of contents that did not become part of the tenant. */
  dropUnneeded(contents: readonly ReceivedContent[]): Promise<void> {
    return dropUnneeded(this.#engine, contents)
  }

  /** The file in a field of an entity that the caller has read: the only one, or one of a list. */
  open(noun: Noun, id: string, state: JsonObject, field: string, n: number | null): OpenFile {
    const declared = fileFields(noun).find(({ name }) => name === field)
    const value = declared && (n === null) !== declared.list ? filesIn(state[field])[n ?? 0] : undefined
    const key = value && keyOfFile(this.#engine, id, value)
    if (!value || !key) {
      const at = n === null ? field : `${field}/${n}`
      throw new Problem('not_found', `This ${noun.name} has no file at ${at}.`, { type: noun.name, id, field })
    }
    const blobs = blobsOf(this.#engine)
    return { value, read: (from, to) => blobs.read(key, from, to) }
  }

  /** A link to a file that the caller has read. */
  link(grant: Grant, target: LinkTarget, until: number): string {
    return sealLink(this.#engine, grant, target, until)
  }

  /** What a link shows, and with which rights; null when it shows nothing any more. */
  follow(link: string): { readonly target: LinkTarget; readonly grant: Grant } | null {
    return openLink(this.#engine, this.#services.keys, link)
  }

  upload(grant: Grant, id: string): UploadState {
    return findUpload(this.#engine, grant, id)
  }

  receivePart(upload: UploadState, source: Source, check: PartCheck | null): Promise<ReceivedPart> {
    return receivePart(this.#engine, upload, source, check)
  }

  /** Removes the bytes of a part that was refused. */
  async dropPart({ part, content }: ReceivedPart): Promise<void> {
    for (const one of [part, content]) {
      if (one === null) continue
      await blobsOf(this.#engine).remove(one.key)
      settled(this.#engine, one.key)
    }
  }

  /** A digest that is fed bit by bit. */
  hasher(algorithm: 'sha256' | 'sha1'): Hasher {
    return this.#engine.ports.seal.hasher(algorithm)
  }

  /** The time, for links and uploads. */
  get now(): number {
    return this.#engine.ports.clock.now()
  }
}

/** The same inside a write. */
export class FileWriter {
  readonly #engine: Engine
  readonly #grant: Grant

  constructor(engine: Engine, grant: Grant) {
    this.#engine = engine
    this.#grant = grant
  }

  beginUpload(size: number, sending: Sending, metadata: string): UploadState {
    return beginUpload(this.#engine, this.#grant, size, sending, metadata)
  }

  admitPart(received: ReceivedPart): UploadState {
    const state = admitPart(this.#engine, received)
    if (received.part) settled(this.#engine, received.part.key)
    return state
  }

  endUpload(id: string): void {
    endUpload(this.#engine, this.#grant, id)
  }
}
