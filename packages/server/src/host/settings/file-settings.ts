import { FILE_DEFAULTS, type FileOptions } from '@tildebase/tenant/internal'
import { duration, size } from './units.ts'

/** What files may use. */
export function readFileSettings(env: { readonly [name: string]: string | undefined }): FileOptions {
  return {
    limit: size('TILDE_FILE_LIMIT', env.TILDE_FILE_LIMIT || '5GiB'),
    total: env.TILDE_FILES_TOTAL ? size('TILDE_FILES_TOTAL', env.TILDE_FILES_TOTAL) : FILE_DEFAULTS.total,
    orphansMs: duration('TILDE_FILE_ORPHANS', env.TILDE_FILE_ORPHANS || '24h'),
  }
}
