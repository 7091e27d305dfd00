import { isPlainObject, type JsonObject } from '@tildebase/nouns'
import type { Client } from '@tildebase/tenant/internal'
import { type Call, parseJson } from '../call.ts'
import { OAuthError } from './error.ts'
import { isRegistered, redirectFault } from './redirects.ts'

/** The program of this service for the command line is known everywhere. */
const BUILT_IN: { readonly [id: string]: JsonObject } = {
  'tilde-cli': { client_name: 'tilde (command line)', redirect_uris: ['http://127.0.0.1/callback'] },
}
const MOST_REDIRECTS = 10
const LONGEST_NAME = 100

/** What a client says of itself, in the words of RFC 7591, as far as it is kept. */
export function metadataOf(given: unknown): JsonObject {
  if (!isPlainObject(given)) throw new OAuthError('invalid_client_metadata', 'Send the metadata as a JSON object.')
  const { redirect_uris: uris, client_name: name } = given
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > MOST_REDIRECTS)
    throw new OAuthError('invalid_redirect_uri', `redirect_uris must be a list of 1 to ${MOST_REDIRECTS} URIs.`)
  for (const uri of uris) {
    const fault = redirectFault(uri)
    if (fault !== null) throw new OAuthError('invalid_redirect_uri', `${String(uri).slice(0, 200)} ${fault}.`)
  }
  const shown =
    typeof name === 'string'
      ? name
          .replace(/[\p{C}\s]+/gu, ' ')
          .trim()
          .slice(0, LONGEST_NAME)
      : ''
  return { redirect_uris: uris as string[], ...(shown && { client_name: shown }) }
}

/** The client of this id, with its metadata as it is now; or the error of there being none. */
export async function clientOf(call: Call, id: string): Promise<Client> {
  const { identity } = call.tenant
  if (Object.hasOwn(BUILT_IN, id)) return identity.client(id) ?? identity.saveClient(BUILT_IN[id]!, id)
  if (/^https:\/\//.test(id) || (/^http:\/\//.test(id) && call.identity.insecureDocuments))
    return documentClient(call, id)
  const client = identity.client(id)
  if (client) return client
  throw new OAuthError('invalid_client', 'There is no client with this client_id. Register it first.')
}

/** The redirect URI that a request asks for; without one, the only one that the client has. */
export function redirectOf({ data }: Client, asked: string | null): string {
  const uris = data.redirect_uris as string[]
  if (asked === null && uris.length === 1) return uris[0]!
  if (asked !== null && isRegistered(uris, asked)) return asked
  throw new OAuthError('invalid_request', 'redirect_uri is not one that this client has registered.')
}

export function clientName({ id, data }: Client): string {
  return typeof data.client_name === 'string' ? data.client_name : id
}

/** Where a client says that it is: the host of its document, or where its answers go. */
export function clientHost({ id, data }: Client): string {
  if (/^https?:\/\//.test(id)) return new URL(id).host
  const [uri] = data.redirect_uris as string[]
  const { protocol, host } = new URL(uri!)
  return protocol === 'http:' || protocol === 'https:' ? host : protocol
}

/** A client whose id is the address of its metadata. The document is read again with each authorization. */
async function documentClient(call: Call, id: string): Promise<Client> {
  if (!URL.canParse(id)) throw new OAuthError('invalid_client', 'The client_id is not a URL.')
  const { pathname, hash, username, password } = new URL(id)
  const isPlain = hash === '' && username === '' && password === '' && pathname !== '/' && !/\/\.{1,2}(?:\/|$)/.test(id)
  const text = isPlain && id.length <= 1_000 ? await call.identity.documents?.read(id) : null
  const document = text ? documentOf(text) : null
  if (!isPlainObject(document) || document.client_id !== id)
    throw new OAuthError('invalid_client', 'The client_id URL does not return a metadata document with this client_id.')
  const method = document.token_endpoint_auth_method ?? 'none'
  if (method !== 'none')
    throw new OAuthError('invalid_client', 'Only public clients (token_endpoint_auth_method none) are supported.')
  return call.tenant.identity.saveClient(metadataOf(document), id)
}

function documentOf(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return null
  }
}
