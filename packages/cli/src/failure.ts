import { Problem } from '@tildebase/client'
import { cell } from './output/cell.ts'
import { UsageError } from './parse/usage-error.ts'

/** Problems in the call of the command, not in the request to the service. */
const OURS = new Set([
  'unreachable',
  'unauthorized',
  'unknown_type',
  'unknown_verb',
  'invalid_tenant',
  'unexpected_answer',
])

/** Why a file could not be read or written. */
const FILES: { readonly [code: string]: (path: string) => string } = {
  ENOENT: (path) => `There is no file ${path}.`,
  EACCES: (path) => `No permission to read or write ${path}.`,
  EPERM: (path) => `No permission to read or write ${path}.`,
  EEXIST: (path) => `${path} already exists. Choose another name, or remove it first.`,
  EISDIR: (path) => `${path} is a folder, not a file.`,
  ENOTDIR: (path) => `A part of the path ${path} is a file, not a folder.`,
  EROFS: (path) => `${path} is on a disk that is read-only.`,
}

/** How a command failed. */
export interface Failure {
  readonly sentence: string
  /** The exit code: 1 if the service refused, 2 if the call was wrong. */
  readonly code: number
  /** The same as JSON, in the form of the service's errors. */
  readonly json: { readonly error: string; readonly message: string }
}

/** The error in one line. */
export function failureOf(reason: unknown): Failure {
  const { sentence, code } = told(reason)
  const error = reason instanceof Problem ? reason.code : reason instanceof UsageError ? 'usage' : 'failed'
  const about = reason instanceof Problem ? reason.about : {}
  return { sentence, code, json: { error, message: sentence, ...about } }
}

function told(reason: unknown): Pick<Failure, 'sentence' | 'code'> {
  if (reason instanceof Problem) {
    const code = OURS.has(reason.code) ? 2 : 1
    if (reason.code === 'unauthorized') {
      return { sentence: 'The key is not valid for this service. Check --key or TILDE_KEY, or run: tilde login', code }
    }
    return { sentence: cell(reason.message), code }
  }
  if (reason instanceof UsageError) return { sentence: cell(reason.message), code: 2 }
  const { code = '', path, message } = reason as NodeJS.ErrnoException
  const sentence = path === undefined ? undefined : FILES[code]?.(path)
  return { sentence: cell(sentence ?? message ?? String(reason)), code: 2 }
}

/** Why a server did not start. */
export function startFailure(reason: unknown): UsageError {
  const { code, message, address, port, path, hostname } = reason as StartError
  if (code === 'EADDRINUSE')
    return new UsageError(
      `Port ${port} of ${address} is in use. Choose another with --port, or stop the program that has it.`,
    )
  if (/database is locked/.test(message))
    return new UsageError(
      'Another service runs on this data folder. Stop it first, or choose another folder with --data.',
    )
  if (code === 'EACCES')
    return new UsageError(`${message}. Choose a port above 1023 and a data folder that you may write to.`)
  if (code === 'EEXIST' || code === 'ENOTDIR')
    return new UsageError(`${path} is a file, or is below one. Choose a folder for the data with --data.`)
  if (code === 'ENOTFOUND' || code === 'EADDRNOTAVAIL')
    return new UsageError(
      `${hostname ?? address} is not an address of this machine. Choose one with --host, such as 127.0.0.1 or 0.0.0.0.`,
    )
  return new UsageError(message)
}

type StartError = NodeJS.ErrnoException & { address?: string; port?: number; hostname?: string }
