import { SettingError } from '../../host/settings/setting-error.ts'

/** Where the log is, and as whom to go there. */
export interface Address {
  readonly hosts: readonly { readonly host: string; readonly port: number }[]
  readonly database: string
  readonly user: string
  readonly password: string
  readonly ssl: false | 'require' | 'verify-full'
  /** A file with the certificates that those of the hosts are checked by; null for those that Node knows. */
  readonly ca: string | null
}

const URL_FORM = /^postgres(?:ql)?:\/\/(?:([^:@/]*)(?::([^@/]*))?@)?([^/?]+)\/([^?]+)(?:\?(.*))?$/

/** Reads `postgres://user:password@host1:5432,host2,host3/database?sslmode=verify-full&sslrootcert=/etc/ca.pem`. */
export function readAddress(url: string): Address {
  const [, user = '', password = '', hosts = '', database = '', query = ''] = URL_FORM.exec(url) ?? []
  if (database === '') throw refused('postgres://user:password@host1,host2,host3/database')
  const params = new URLSearchParams(query)
  const mode = params.get('sslmode') ?? 'disable'
  if (!['disable', 'require', 'verify-full'].includes(mode)) throw refused('sslmode=disable, require or verify-full')
  return {
    hosts: hosts.split(',').map(hostOf),
    database: decodeURIComponent(database),
    user: decodeURIComponent(user) || params.get('user') || 'postgres',
    password: decodeURIComponent(password) || params.get('password') || '',
    ssl: mode === 'disable' ? false : (mode as 'require' | 'verify-full'),
    ca: params.get('sslrootcert'),
  }
}

function hostOf(text: string): { host: string; port: number } {
  const [, bracketed, plain, port = '5432'] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text) ?? []
  const host = bracketed ?? plain
  if (host === undefined) throw refused('a host or host:port between commas')
  return { host, port: Number(port) }
}

function refused(form: string): SettingError {
  return new SettingError(`--cluster takes ${form}.`)
}
