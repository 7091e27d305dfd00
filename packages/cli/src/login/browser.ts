import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { UsageError } from '../parse/usage-error.ts'
import { CLIENT, oauthForm, type Tokens, tokensOf } from './tokens.ts'

const PATIENCE = 10 * 60_000

/** The program that opens an address in a browser here, or null. */
export function browserCommand(env: NodeJS.ProcessEnv, platform: string): readonly string[] | null {
  if (env.BROWSER) return [env.BROWSER]
  if (platform === 'darwin') return ['open']
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open'] : null
}

/** Lets a person sign in with their browser, which sends the code to an address of this machine. */
export async function signInWithBrowser(
  url: string,
  tenant: string,
  scope: string,
  [program, ...args]: readonly string[],
  note: (text: string) => void,
): Promise<Tokens> {
  const verifier = randomBytes(32).toString('base64url')
  const state = randomBytes(16).toString('base64url')
  const issuer = `${url}/~${tenant}`
  const waiting = await codeServer(state, issuer)
  const question = new URLSearchParams({
    response_type: 'code',
    client_id: CLIENT,
    redirect_uri: waiting.redirect,
    scope,
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  const address = `${issuer}/oauth/authorize?${question}`
  note(`Sign in with your browser. If it does not open, go to:\n${address}`)
  spawn(program!, [...args, address], { detached: true, stdio: 'ignore' })
    .on('error', () => {})
    .unref()
  try {
    const code = await waiting.code
    return tokensOf(
      await oauthForm(url, tenant, 'token', {
        grant_type: 'authorization_code',
        code,
        redirect_uri: waiting.redirect,
        code_verifier: verifier,
      }),
    )
  } finally {
    waiting.close()
  }
}

/** Listens on this machine for the answer to this sign-in. */
async function codeServer(state: string, issuer: string) {
  let found: (code: string) => void
  let failed: (reason: Error) => void
  const code = new Promise<string>((resolve, reject) => {
    found = resolve
    failed = reject
  })
  // The result is awaited later; this prevents an unhandled rejection until then.
  code.catch(() => {})
  const server = createServer((request, response) => {
    const { pathname, searchParams: given } = new URL(request.url ?? '/', 'http://127.0.0.1')
    const isOurs = pathname === '/callback' && given.get('state') === state && isIssuer(given.get('iss'), issuer)
    response.writeHead(isOurs ? 200 : 404, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
    if (!isOurs) return void response.end('This page does not exist.')
    response.end('You can close this window and go back to the terminal.')
    const value = given.get('code')
    if (value !== null) found(value)
    else failed(new UsageError(given.get('error_description') ?? 'Sign-in failed.'))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const timer = setTimeout(() => failed(new UsageError('No sign-in within ten minutes.')), PATIENCE)
  return {
    redirect: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    code,
    close() {
      clearTimeout(timer)
      server.close()
    },
  }
}

/** Whether an answer comes from the requested server. The service may have several names. */
function isIssuer(given: string | null, asked: string): boolean {
  return given !== null && given.slice(given.lastIndexOf('/~')) === asked.slice(asked.lastIndexOf('/~'))
}
