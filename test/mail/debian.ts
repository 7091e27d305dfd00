import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installWithApt } from '../prepare/apt.ts'

/** The mail servers of Debian, on loopback: Postfix takes and delivers messages, Dovecot shows mailboxes and knows passwords. */
export interface MailServers {
  /** Certificates that the servers are known by. */
  readonly authority: string
  readonly smtp: number
  readonly imap: number
  /** The raw messages in a mailbox that no reader has taken. */
  mailbox(address: string): string[]
  stop(): void
}

interface Account {
  readonly address: string
  readonly password: string
}

const PROGRAMS = {
  '/usr/sbin/postfix': 'postfix',
  '/usr/sbin/dovecot': 'dovecot-core',
  '/usr/lib/dovecot/imap': 'dovecot-imapd',
}
/** The user `mail` of Debian. */
const MAIL = 8

/** Why the servers cannot run here, or null. They need their own users, and so an installation by root. */
export function missingServers(): string | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'Postfix and Dovecot start as root on Linux only.'
  const missing = Object.entries(PROGRAMS).flatMap(([path, name]) => (existsSync(path) ? [] : [name]))
  // In runlevel 1 no package starts its service.
  process.env.RUNLEVEL = '1'
  return missing.length === 0 || installWithApt(missing) ? null : `apt could not install ${missing.join(', ')}.`
}

/** Starts both. Messages to `refusedDomain` are accepted and then bounce. */
export async function startServers(accounts: readonly Account[], refusedDomain: string): Promise<MailServers> {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-mail-'))
  chmodSync(folder, 0o755)
  const [smtp, imap, auth] = [await freePort(), await freePort(), await freePort()]
  const path = (name: string) => join(folder, name)
  for (const name of ['postfix', 'queue', 'mail']) mkdirSync(path(name))
  chownSync(path('mail'), MAIL, MAIL)
  certify(path('cert.pem'), path('key.pem'))
  writeFileSync(path('users'), accounts.map(({ address, password }) => `${address}:{PLAIN}${password}\n`).join(''))
  writeFileSync(path('dovecot.conf'), dovecotConf(folder, imap, auth))
  writeFileSync(path('postfix/main.cf'), mainCf(folder, auth, accounts, refusedDomain))
  writeFileSync(path('postfix/master.cf'), masterCf(smtp))
  const postfix = (word: string) => spawnSync('postfix', ['-c', path('postfix'), word], { stdio: 'ignore' })
  execFileSync('dovecot', ['-c', path('dovecot.conf')], { stdio: 'ignore' })
  postfix('start')
  return {
    authority: path('cert.pem'),
    smtp,
    imap,
    mailbox: (address) => globSync(path(`mail/${address}/Maildir/new/*`)).map((file) => readFileSync(file, 'utf8')),
    stop() {
      postfix('stop')
      spawnSync('doveadm', ['-c', path('dovecot.conf'), 'stop'], { stdio: 'ignore' })
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function certify(certificate: string, key: string): void {
  const about = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const files = ['-keyout', key, '-out', certificate]
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...about, ...files], {
    stdio: 'ignore',
  })
}

function dovecotConf(folder: string, imap: number, auth: number): string {
  return `
base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = ${folder}/dovecot.log
listen = 127.0.0.1
protocols = imap
ssl = required
ssl_cert = <${folder}/cert.pem
ssl_key = <${folder}/key.pem
auth_mechanisms = plain login
mail_location = maildir:~/Maildir
first_valid_uid = ${MAIL}
passdb {
  driver = passwd-file
  args = scheme=PLAIN username_format=%u ${folder}/users
}
userdb {
  driver = static
  args = uid=${MAIL} gid=${MAIL} home=${folder}/mail/%u
}
service imap-login {
  inet_listener imap {
    port = 0
  }
  inet_listener imaps {
    port = ${imap}
    ssl = yes
  }
}
service auth {
  inet_listener {
    address = 127.0.0.1
    port = ${auth}
  }
}
`
}

function mainCf(folder: string, auth: number, accounts: readonly Account[], refusedDomain: string): string {
  const domain = accounts[0]!.address.split('@')[1]
  const boxes = accounts.map(({ address }) => `${address} ${address}/Maildir/`).join('\n')
  writeFileSync(join(folder, 'boxes'), boxes)
  writeFileSync(join(folder, 'transport'), `${refusedDomain} error:5.1.1 No such user\n`)
  return `
compatibility_level = 3.6
queue_directory = ${folder}/queue
data_directory = ${folder}/data
maillog_file = ${folder}/postfix.log
maillog_file_prefixes = ${folder}
inet_interfaces = loopback-only
inet_protocols = ipv4
myhostname = ${domain}
mydestination =
local_transport = error:no local mail
alias_maps =
alias_database =
virtual_mailbox_domains = ${domain}
virtual_mailbox_maps = texthash:${folder}/boxes
virtual_mailbox_base = ${folder}/mail
virtual_uid_maps = static:${MAIL}
virtual_gid_maps = static:${MAIL}
virtual_minimum_uid = 1
transport_maps = texthash:${folder}/transport
smtpd_tls_cert_file = ${folder}/cert.pem
smtpd_tls_key_file = ${folder}/key.pem
smtpd_tls_security_level = encrypt
smtpd_tls_auth_only = yes
smtpd_sasl_auth_enable = yes
smtpd_sasl_type = dovecot
smtpd_sasl_path = inet:127.0.0.1:${auth}
smtpd_recipient_restrictions = permit_sasl_authenticated, reject
smtpd_relay_restrictions = permit_sasl_authenticated, reject
# What cannot be delivered is accepted first, and bounces later.
smtpd_reject_unlisted_recipient = no
`
}

function masterCf(smtp: number): string {
  const line = (name: string, type: string, wakeup: string, most: string, command: string, isPrivate = 'y') =>
    // Only the agent that writes into mailboxes has the rights of root.
    `${name} ${type} ${isPrivate} ${command === 'virtual' ? 'n' : '-'} n ${wakeup} ${most} ${command}`
  return `${[
    line(`127.0.0.1:${smtp}`, 'inet', '-', '-', 'smtpd', 'n'),
    line('cleanup', 'unix', '-', '0', 'cleanup', 'n'),
    line('qmgr', 'unix', '300', '1', 'qmgr', 'n'),
    line('tlsmgr', 'unix', '1000?', '1', 'tlsmgr'),
    line('rewrite', 'unix', '-', '-', 'trivial-rewrite'),
    line('bounce', 'unix', '-', '0', 'bounce'),
    line('defer', 'unix', '-', '0', 'bounce'),
    line('trace', 'unix', '-', '0', 'bounce'),
    line('proxymap', 'unix', '-', '-', 'proxymap'),
    line('error', 'unix', '-', '-', 'error'),
    line('retry', 'unix', '-', '-', 'error'),
    line('discard', 'unix', '-', '-', 'discard'),
    line('virtual', 'unix', '-', '-', 'virtual'),
    line('anvil', 'unix', '-', '1', 'anvil'),
    line('postlog', 'unix-dgram', '-', '1', 'postlogd', 'n'),
  ].join('\n')}\n`
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  await new Promise((done) => server.close(done))
  return (address as { port: number }).port
}
