import type { FileOptions } from '@tildebase/tenant/internal'
import { SettingError } from './setting-error.ts'
import { duration, size } from './units.ts'

/** A bucket of an S3-compatible store. */
export interface BucketSettings {
  readonly endpoint: string
  readonly region: string
  readonly bucket: string
  /** What comes before every key, without slashes at its ends. */
  readonly prefix: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

/** Where the bytes of files are, and what they may use. */
export interface FileSettings extends FileOptions {
  /** The bucket; null for the data folder. */
  readonly bucket: BucketSettings | null
}

type Words = { readonly [name: string]: string | undefined }

export function readFileSettings(env: Words): FileSettings {
  return {
    limit: size('TILDE_FILE_LIMIT', env.TILDE_FILE_LIMIT || '5GiB'),
    total: env.TILDE_FILES_TOTAL ? size('TILDE_FILES_TOTAL', env.TILDE_FILES_TOTAL) : null,
    orphansMs: duration('TILDE_FILE_ORPHANS', env.TILDE_FILE_ORPHANS || '24h'),
    bucket: env.TILDE_FILES ? readBucket('TILDE_FILES', env.TILDE_FILES, env) : null,
  }
}

/** A bucket by its address, `s3://bucket/prefix`, and the variables of its service. */
export function readBucket(name: string, address: string, env: Words): BucketSettings {
  const [, bucket, prefix = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,62})(?:\/(.*))?$/.exec(address) ?? []
  if (bucket === undefined) throw new SettingError(`${name} must be s3://bucket/prefix, not ${address}.`)
  const region = env.TILDE_S3_REGION || 'us-east-1'
  return {
    endpoint: endpointOf(env.TILDE_S3_ENDPOINT || `https://s3.${region}.amazonaws.com`),
    region,
    bucket,
    prefix: prefix.replace(/^\/+|\/+$/g, ''),
    accessKeyId: needed(env, 'TILDE_S3_ACCESS_KEY_ID', name),
    secretAccessKey: needed(env, 'TILDE_S3_SECRET_ACCESS_KEY', name),
  }
}

/** Keys and contents go over https, unless the store is on this machine. */
function endpointOf(text: string): string {
  const { protocol, hostname } = URL.canParse(text) ? new URL(text) : { protocol: '', hostname: '' }
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  if (protocol === 'https:' || (protocol === 'http:' && isLocal)) return text.replace(/\/+$/, '')
  throw new SettingError(`TILDE_S3_ENDPOINT must be an https URL; http is for loopback only. It is ${text}.`)
}

function needed(env: Words, variable: string, setting: string): string {
  const value = env[variable]
  if (value) return value
  throw new SettingError(`${setting} needs ${variable}.`)
}
