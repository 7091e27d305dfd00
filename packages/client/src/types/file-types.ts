import type { AsOf } from '../entities/query.ts'
import type { WriteOptions } from '../entities/written.ts'

/** How far an upload is. */
export interface UploadProgress {
  /** The number of bytes that the service has. */
  readonly sent: number
  readonly size: number
  /** The name of an upload in pieces, to continue it later; null for content that is sent at once. */
  readonly upload: string | null
}

export interface UploadOptions extends WriteOptions {
  /** The name of the file; that of a `File` by default. */
  readonly name?: string | undefined
  /** Called when the upload begins, after each piece, and at the end. */
  readonly onProgress?: ((progress: UploadProgress) => void) | undefined
  /** The `upload` of an earlier call with the same content: it is continued. */
  readonly resume?: string | undefined
}

export interface DownloadOptions {
  /** The place in a list of files. */
  readonly index?: number | undefined
  /** The content of that time. */
  readonly asOf?: AsOf | undefined
  readonly signal?: AbortSignal | undefined
}

export interface LinkOptions {
  /** For how long: `30s`, `10m`, `24h`, at most `7d`. */
  readonly expires: string
  /** The place in a list of files. */
  readonly index?: number | undefined
}

export interface FileLink {
  readonly url: string
  readonly expires: string
}
