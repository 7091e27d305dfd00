import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { decodeJwt, exportJWK, generateKeyPair, importJWK, type JWTPayload, SignJWT } from 'jose'
import { Provider } from 'oidc-provider'

/** A real OIDC provider on a free port. What its token endpoint answers can be changed, with a valid signature. */
export interface TestProvider {
  readonly issuer: string
  /** Changes the claims of the ID tokens that come next. */
  tamper: ((claims: JWTPayload) => JWTPayload) | null
  /** Signs with a key that the provider does not publish. */
  forged: boolean
  unverified: boolean
  stop(): Promise<void>
}

export const CLIENT = { id: 'tildebase', secret: 'the secret of the client' }

export async function startProvider(redirect: () => string): Promise<TestProvider> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const { privateKey: strange } = await generateKeyPair('RS256')
  const key = { ...(await exportJWK(privateKey)), kid: 'k1', alg: 'RS256', use: 'sig' }
  let inner: (request: IncomingMessage, response: ServerResponse) => void = () => {}
  const server: Server = createServer((request, response) => inner(request, response))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const state: TestProvider = {
    issuer,
    tamper: null,
    forged: false,
    unverified: false,
    async stop() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
  const provider = new Provider(issuer, {
    jwks: { keys: [key as never] },
    cookies: { keys: ['cookie key'] },
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [redirect()],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    findAccount: async (_: unknown, id: string) => ({
      accountId: id,
      claims: async () => ({ sub: id, email: id, email_verified: !state.unverified }),
    }),
  } as never)
  const own = provider.callback()
  inner = (request, response) => {
    if (request.url?.startsWith('/token')) changeTokens(response)
    own(request, response)
  }

  /** Holds the answer of the token endpoint back and signs its ID token again. */
  function changeTokens(response: ServerResponse): void {
    const end = response.end.bind(response) as (body: unknown) => ServerResponse
    response.end = ((body: unknown) => {
      void changed(String(body)).then((text) => {
        response.setHeader('content-length', Buffer.byteLength(text))
        end(text)
      })
      return response
    }) as never
  }

  async function changed(text: string): Promise<string> {
    const answer = JSON.parse(text)
    if (answer.id_token === undefined || (state.tamper === null && !state.forged)) return text
    const claims = (state.tamper ?? ((same) => same))(decodeJwt(answer.id_token))
    const signer = state.forged ? strange : await importJWK(key, 'RS256')
    const token = await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'k1' }).sign(signer)
    return JSON.stringify({ ...answer, id_token: token })
  }
  return state
}

/** Goes through the provider's own pages as a person, and returns where it sends the browser in the end. */
export async function passProvider(start: string, login: string): Promise<string> {
  const jar = new Map<string, string>()
  let url = start
  let form: Record<string, string> | null = null
  for (let i = 0; i < 20; i++) {
    const response: Response = await fetch(url, {
      redirect: 'manual',
      method: form ? 'POST' : 'GET',
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form && { body: new URLSearchParams(form) }),
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!
      jar.set(name!, value!)
    }
    form = null
    const location = response.headers.get('location')
    if (location === null) {
      const page: string = await response.text()
      const action: string | undefined = /action="([^"]+)"/.exec(page)?.[1]
      const prompt: string | undefined = /name="prompt" value="(\w+)"/.exec(page)?.[1]
      if (!action || !prompt) throw new Error(`The provider shows ${response.status}: ${page.slice(0, 2_000)}`)
      url = new URL(action, url).href
      form = prompt === 'login' ? { prompt, login, password: 'x' } : { prompt }
      continue
    }
    url = new URL(location, url).href
    if (!url.startsWith(new URL(start).origin)) return url
  }
  throw new Error('The provider does not come to an end.')
}
