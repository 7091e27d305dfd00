import { type Json, type JsonObject, Problem } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import { type Grant, OPERATOR } from '../grant/grant.ts'
import { parseScopes, type Scope } from '../grant/scopes.ts'
import { newId } from '../ids.ts'
import { endConsent } from '../services/identity/guard.ts'
import { invitationOf } from '../services/identity/invitations.ts'
import { consentGrant, type People, personGrant, SESSION_IDLE } from '../services/identity/people.ts'
import {
  hasPeople,
  issueToken,
  sealedSecret,
  spendSealed,
  type TokenDraft,
  tokenOf,
} from '../services/identity/secrets.ts'
import { areaOf, rowsFilter } from '../services/keys.ts'
import { currentOf, entitiesSpelled } from '../store/entities.ts'
import { hexOf } from '../store/non-log-tables.ts'
import {
  type Client,
  type Consent,
  clientById,
  consentById,
  consentsOf,
  countUnusedClients,
  dropUnusedClients,
  saveClient,
  saveConsent,
} from '../store/people/consents.ts'
import {
  type Credential,
  credentialById,
  credentialsOf,
  dropCredential,
  saveCredential,
  useCredential,
} from '../store/people/credentials.ts'
import {
  changeToken,
  dropToken,
  dropTokensOf,
  type Token,
  type TokenKind,
  tokenById,
  tokensOf,
  trimTokensOfConsent,
  unclaimedTokens,
  useToken,
} from '../store/people/tokens.ts'

const HOUR = 3_600_000
/** The oldest give way. */
const MOST_SESSIONS = 100
const MOST_TOKENS = 200

/** A person, as far as signing in needs to know. */
export interface User {
  readonly id: string
  readonly name: string
  readonly email: string
  readonly status: string
  readonly role: string | null
}

/**
 * How people and agents are recognised, for the doors that sign them in. No rights are applied here: a door that calls
 * the caller was authenticated. None of it is an entity or an event.
 */
export class TenantIdentity {
  readonly #engine: Engine
  readonly #people: People

  constructor(engine: Engine, people: People) {
    this.#engine = engine
    this.#people = people
  }

  /** Whether any person can sign in. */
  get hasPeople(): boolean {
    return hasPeople(this.#engine.sql)
  }

  /** The grant of a session, or null when it has ended. */
  session(secret: string): Grant | null {
    return this.#people.sessionGrant(secret)
  }

  /** What a person may do now, or null when they are not active. */
  grantOf(user: string): Grant | null {
    return personGrant(this.#engine, user)
  }

  user(id: string): User | null {
    const current = currentOf(this.#engine.sql, 'User', id)
    return current && !current.deleted ? userOf(current) : null
  }

  /** The person with this address. Capital letters matter only where several people differ in nothing else. */
  userByEmail(email: string): User | null {
    const field = this.#engine.fieldNumber('User', 'email')
    const found = field === null ? [] : entitiesSpelled(this.#engine.sql, field, email).map(userOf)
    return found.find((one) => one.email === email) ?? (found.length === 1 ? found[0]! : null)
  }

  /** Starts a session. The secret is always new, which prevents session fixation. */
  startSession(user: string, about: JsonObject): { readonly secret: string; readonly session: Token } {
    const { secret, token } = this.#written(() => {
      for (const old of tokensOf(this.#engine.sql, user, 'session').slice(MOST_SESSIONS - 1))
        dropToken(this.#engine.sql, old.id)
      return issueToken(this.#engine, 'session', { user, data: about, lastsMs: SESSION_IDLE })
    })
    return { secret, session: token }
  }

  /** The token that writes with this session must carry. It follows from the secret, which pages cannot read. */
  csrf(secret: string): string {
    return hexOf(this.#engine.ports.seal.hmacSha256(secret, 'csrf')).slice(0, 40)
  }

  isCsrf(secret: string, given: string): boolean {
    const { seal } = this.#engine.ports
    return seal.equal(seal.sha256(this.csrf(secret)), seal.sha256(given))
  }

  /** The SHA-256 of a string, for what is to be known again and not to be read. */
  digest(text: string): string {
    return hexOf(this.#engine.ports.seal.sha256(text))
  }

  sessions(user: string): Token[] {
    const now = this.#engine.ports.clock.now()
    return tokensOf(this.#engine.sql, user, 'session')
      .map((one) => ({ ...one, usedAt: this.#people.lastUsed(one.id) ?? one.usedAt }))
      .filter(({ expiresAt, usedAt }) => expiresAt > now || (usedAt ?? 0) + SESSION_IDLE > now)
  }

  endSessions(user: string): void {
    this.#written(() => dropTokensOf(this.#engine.sql, user, 'session'))
  }

  token(id: string): Token | null {
    return tokenById(this.#engine.sql, id) ?? null
  }

  /** Issues a secret of this kind. */
  issue(kind: TokenKind, draft: TokenDraft): string {
    return this.#written(() => {
      const { secret } = issueToken(this.#engine, kind, draft)
      // Used ones are kept to know them again; a client that asks without end fills no disk with them.
      if (draft.consent) trimTokensOfConsent(this.#engine.sql, draft.consent, MOST_TOKENS)
      return secret
    })
  }

  /** A secret that carries its data, encrypted. Nothing is stored: clients that ask for many do not keep others out. */
  seal(data: JsonObject, lastsMs: number): string {
    return sealedSecret(this.#engine, data, lastsMs)
  }

  /** The data of a sealed secret that has not ended; null when it was used before. */
  spend(secret: string): JsonObject | null {
    return this.#written(() => spendSealed(this.#engine, secret))
  }

  /** The token of a secret that has not ended. One that can be used once may have been used. */
  find(kind: TokenKind, secret: string): Token | null {
    return kind === 'invitation' ? invitationOf(this.#engine, secret) : tokenOf(this.#engine, kind, secret)
  }

  /** Takes a secret that can be used once, or null. `usedAt` of the answer tells whether it was used before. */
  use(kind: TokenKind, secret: string): Token | null {
    return this.#written(() => {
      const token = tokenOf(this.#engine, kind, secret)
      if (token && token.usedAt === null) useToken(this.#engine.sql, token.id, this.#engine.ports.clock.now())
      return token
    })
  }

  change(token: Pick<Token, 'id' | 'user' | 'consent' | 'data'>): void {
    this.#written(() => changeToken(this.#engine.sql, token))
  }

  end(id: string): void {
    this.#written(() => dropToken(this.#engine.sql, id))
  }

  /** Tokens of a kind that no person has claimed yet and that have not ended. */
  unclaimed(kind: TokenKind): Token[] {
    const now = this.#engine.ports.clock.now()
    return unclaimedTokens(this.#engine.sql, kind).filter(({ expiresAt }) => expiresAt > now)
  }

  credentials(user: string): Credential[] {
    return credentialsOf(this.#engine.sql, user)
  }

  credential(id: string): Credential | null {
    return credentialById(this.#engine.sql, id) ?? null
  }

  saveCredential(credential: Omit<Credential, 'createdAt' | 'usedAt'>): void {
    const owner = credentialById(this.#engine.sql, credential.id)?.user ?? credential.user
    if (owner !== credential.user) throw new Problem('conflict', 'This passkey is already in use. Use another one.')
    const createdAt = this.#engine.ports.clock.now()
    this.#written(() => saveCredential(this.#engine.sql, { ...credential, createdAt }))
  }

  useCredential(id: string, data: JsonObject): void {
    this.#written(() => useCredential(this.#engine.sql, id, data, this.#engine.ports.clock.now()))
  }

  dropCredential(id: string): void {
    this.#written(() => dropCredential(this.#engine.sql, id))
  }

  client(id: string): Client | null {
    return clientById(this.#engine.sql, id) ?? null
  }

  /** Forgets clients of the last hours that no person has consented to, when there are as many. */
  makeRoomForClients(most: number): void {
    const { sql, ports } = this.#engine
    if (countUnusedClients(sql) < most) return
    this.#written(() => dropUnusedClients(sql, ports.clock.now() - HOUR))
    if (countUnusedClients(sql) < most) return
    throw new Problem('busy', 'Too many clients have registered. Try again later.', { retryAfter: 600 })
  }

  /** That many random letters, for a code that a person types. */
  randomCode(letters: string, length: number): string {
    const { random } = this.#engine.ports
    let code = ''
    while (code.length < length)
      for (const byte of random.bytes(length)) {
        if (byte < 256 - (256 % letters.length) && code.length < length) code += letters[byte % letters.length]
      }
    return code
  }

  /** Keeps the metadata of a client; `id` is its own where it has one already. */
  saveClient(data: JsonObject, id?: string): Client {
    const { sql, ports } = this.#engine
    const known = id === undefined ? undefined : clientById(sql, id)
    const agent = known?.agent ?? newId('agent', ports.clock, ports.random)
    const client = { id: id ?? agent, agent, data, createdAt: known?.createdAt ?? ports.clock.now() }
    this.#written(() => saveClient(sql, client))
    return { ...client, usedAt: known?.usedAt ?? null }
  }

  consent(id: string): Consent | null {
    return consentById(this.#engine.sql, id) ?? null
  }

  /** What an agent may do with a consent now; null when it has ended, or its person is not active. */
  consentGrant(id: string): Grant | null {
    return consentGrant(this.#engine, id)
  }

  /** The consents of a person; null for all people. */
  consents(user: string | null): Consent[] {
    return consentsOf(this.#engine.sql, user).map((one) => ({
      ...one,
      usedAt: this.#people.lastUsed(one.id) ?? one.usedAt,
    }))
  }

  saveConsent(client: string, user: string, data: JsonObject): string {
    const { sql, ports } = this.#engine
    const id = newId('consent', ports.clock, ports.random)
    this.#written(() => saveConsent(sql, { id, client, user, data, createdAt: ports.clock.now() }))
    return id
  }

  /** Ends what a person allowed a client, with all its tokens. */
  endConsent(id: string): void {
    this.#written(() => endConsent(this.#engine.sql, id))
    this.#engine.ports.alarm.wakeAt(this.#engine.ports.clock.now())
  }

  /** The scopes of a string, those that make no sense left out. */
  scopes(text: string): Scope[] {
    return parseScopes(text, (area) => areaOf(this.#engine, area)).scopes
  }

  /** Row filters by type that a person allows a client, or the problem of what is wrong with them. */
  rows(person: Grant, filter: Json): JsonObject {
    // What the person is narrowed to is applied with every request, as it is then.
    rowsFilter(this.#engine, person, { filter }, 'Consent')
    return rowsFilter(this.#engine, OPERATOR, { filter }, 'Consent') ?? {}
  }

  #written<T>(work: () => T): T {
    const { sql, cache } = this.#engine
    const result = sql.transaction(work as () => never) as T
    cache.forget('Identity')
    return result
  }
}

function userOf({ id, data }: { readonly id: string; readonly data: string }): User {
  const { name, email, status, role } = JSON.parse(data) as Partial<User>
  return { id, name: name ?? '', email: email ?? '', status: status ?? '', role: role ?? null }
}
