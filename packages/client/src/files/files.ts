import { type FileValue, type JsonObject, Problem } from '@tildebase/nouns'
import { asOfText } from '../entities/query.ts'
import { type WriteOptions, written } from '../entities/written.ts'
import type { AnyJson } from '../transport/any-json.ts'
import type { Wire } from '../transport/wire.ts'
import type { DownloadOptions, FileLink, LinkOptions, UploadOptions } from '../types/file-types.ts'
import { PIECE, sendPieces } from './pieces.ts'

/** A type, as its files need it. */
interface Target {
  /** The path of the tenant. */
  readonly root: string
  readonly type: string
  /** The path of an entity. */
  at(id: string): string
  get(id: string): Promise<AnyJson>
  update(id: string, patch: JsonObject, options: WriteOptions): Promise<AnyJson>
}

/** So often a list is read again when another client changed it. */
const TRIES = 5

/** The methods of the file fields of a type. */
export function filesOf(wire: Wire, { root, type, at, get, update }: Target) {
  const path = (id: string, field: string, index?: number) =>
    `${at(id)}/${encodeURIComponent(field)}${index === undefined ? '' : `/${index}`}`
  return {
    upload: (id: string, field: string, content: Blob, options: UploadOptions = {}) =>
      isWhole(content, options)
        ? sendWhole(wire, path(id, field), content, options)
        : sendPieces(wire, root, content, options).then((file) => setFile(id, field, file, options)),
    download: (id: string, field: string, { index, asOf, signal }: DownloadOptions = {}): Promise<Response> =>
      wire.send(path(id, field, index), {
        query: { asOf: asOfText(asOf) },
        headers: { accept: '*/*' },
        signal,
      }),
    link: (id: string, field: string, { index, expires }: LinkOptions): Promise<FileLink> =>
      wire.json(`${path(id, field, index)}/link`, { method: 'POST', body: { expires } }),
  }

  /** Names content that has been sent. A list gets it at its end, also when others change the list meanwhile. */
  async function setFile(id: string, field: string, { hash, name }: FileValue, options: WriteOptions, tries = 1) {
    const { fields } = await wire.json(`${root}/schema/${encodeURIComponent(type)}`)
    if (!fields[field]?.list) return update(id, { [field]: { hash, name } }, options)
    const { $version, [field]: own } = (await get(id)) ?? {}
    try {
      return await update(id, { [field]: [...(own ?? []), { hash, name }] }, { ifVersion: $version, ...options })
    } catch (reason) {
      const isStale = reason instanceof Problem && reason.code === 'version_mismatch'
      if (!isStale || options.ifVersion !== undefined || tries === TRIES) throw reason
      return setFile(id, field, { hash, name } as FileValue, options, tries + 1)
    }
  }
}

/** Stores content without an entity, for a create or an update that names it. */
export function storeContent(wire: Wire, root: string, content: Blob, options: UploadOptions = {}): Promise<FileValue> {
  return isWhole(content, options)
    ? sendWhole(wire, `${root}/files`, content, options)
    : sendPieces(wire, root, content, options)
}

function isWhole({ size }: Blob, { resume }: UploadOptions): boolean {
  return size <= PIECE && resume === undefined
}

async function sendWhole(wire: Wire, path: string, content: Blob, options: UploadOptions): Promise<AnyJson> {
  const { name = (content as Partial<File>).name, onProgress } = options
  const { size, type } = content
  onProgress?.({ sent: 0, size, upload: null })
  const raw = { type: type || 'application/octet-stream', body: content }
  const answer = await wire.json(path, { method: 'POST', query: { name }, raw, ...written(options) })
  onProgress?.({ sent: size, size, upload: null })
  return answer
}
