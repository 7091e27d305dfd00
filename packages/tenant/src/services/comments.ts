import { type Json, type JsonObject, sameJson, type Verb } from '@tildebase/nouns'
import { grantFor, may } from '../grant/grant.ts'
import { findRows } from '../query/answer/find.ts'
import { filterOf } from '../query/parameters/filter.ts'
import { readContextOf } from '../query/read-context.ts'
import { isVisible } from '../query/rights/visible-entity.ts'
import { currentOf } from '../store/entities.ts'
import { applyVerb } from '../write/verb.ts'
import type { RunResult, VerbRequest } from '../write/verb-request.ts'
import type { DerivedChange, SpecialVerb, Write } from '../write/write.ts'

/** The most people that one comment mentions. */
const MOST_MENTIONS = 20
/** Of more people, only the newest are found. */
const MOST_PEOPLE = 5_000
/** A name has at most this many words after the `@`. */
const MOST_WORDS = 4
/** An `@` that no letter or digit precedes, and the words after it. */
const AT_NAME = /(?<![\p{L}\p{N}._%+-])@([\p{L}\p{N}][\p{L}\p{N}.'’@_+-]*(?: [\p{L}\p{N}][\p{L}\p{N}.'’-]*){0,3})/gu
/** A verb of the service's own: the comment stays as it is. */
const MENTION: Verb = { name: 'mention', before: 'mentioning', event: 'mentioned', keeps: 'event' }

/** The people whose names or e-mail addresses follow an `@` in the text of a comment, of those that the writer may read. */
export function deriveMentions({ write, state, before }: DerivedChange): JsonObject {
  const { mentions: _given, ...rest } = state
  const known = before?.mentions as Json | undefined
  const found =
    before !== null && sameJson(before.body ?? null, state.body ?? null) ? known : mentioned(write, state.body)
  return found === undefined || (Array.isArray(found) && found.length === 0) ? rest : { ...rest, mentions: found }
}

/** The verbs that write the text of a comment. An event of its own names the people whom it mentions for the first time. */
export const commentVerbs: { readonly [name: string]: SpecialVerb } = {
  'Comment.create': (write, request) => withMentions(write, request, []),
  'Comment.update': (write, request) => {
    const current = request.id === undefined ? undefined : currentOf(write.sql, 'Comment', request.id)
    return withMentions(write, request, current ? usersIn(current.data) : [])
  },
}

function withMentions(write: Write, request: VerbRequest, before: readonly string[]): RunResult {
  const result = applyVerb(write, request)
  const users = result.event === null ? [] : usersIn(result.entity.data).filter((id) => !before.includes(id))
  if (users.length === 0) return result
  const { id } = result.entity
  const told = applyVerb(write, { type: 'Comment', verb: MENTION.name, id, data: { users }, internalVerb: MENTION })
  return { ...result, entity: told.entity }
}

function mentioned(write: Write, body: Json | undefined): Json[] {
  const { engine, grant, context } = write
  const user = engine.noun('User')
  if (typeof body !== 'string' || !body.includes('@') || !may(grant, 'read', user)) return []
  const names = engine.cache.get(['User'], 'names of people', () => handles(people(write)))
  const found = new Set<string>()
  const seen = new Set<string>()
  for (const [, text] of body.matchAll(AT_NAME)) {
    const id = longest(names, text!)
    if (id === null || seen.has(id)) continue
    seen.add(id)
    if (isVisible(engine, grant, user, id, context.budget)) found.add(id)
    if (found.size >= MOST_MENTIONS) break
  }
  return [...found]
}

interface Person {
  readonly id: string
  readonly name: string
  readonly email: string
}

/** The names and addresses of the tenant's people. */
function people({ engine }: Write): Person[] {
  const filter = filterOf(engine, engine.noun('User'), {})
  const query = { type: 'User', filter, limit: MOST_PEOPLE, total: false }
  return findRows(readContextOf(engine, grantFor('system')), query).results.map(({ id, data }) => {
    const { name = '', email = '' } = JSON.parse(data) as Partial<Person>
    return { id, name, email }
  })
}

/** The person whose name the text begins with; the longest name counts. */
function longest(names: ReadonlyMap<string, string | null>, text: string): string | null {
  const words = text.split(' ').slice(0, MOST_WORDS)
  for (let n = words.length; n > 0; n--) {
    const name = folded(words.slice(0, n).join(' '))
    const id = names.get(name) ?? names.get(withoutEnd(name))
    if (id) return id
  }
  return null
}

/** A name without the marks that may follow it in a sentence. */
function withoutEnd(name: string): string {
  let end = name.length
  while (end > 0 && ENDINGS.includes(name[end - 1]!)) end--
  return name.slice(0, end)
}

const ENDINGS = ".'’-"

/** Whom a text after an `@` means: a whole name, an e-mail address, or a first word that only one person has. */
function handles(people: readonly Person[]): ReadonlyMap<string, string | null> {
  const byName = new Map<string, string | null>()
  const add = (handle: string, id: string) =>
    byName.set(handle, byName.has(handle) && byName.get(handle) !== id ? null : id)
  for (const { id, name } of people) add(folded(name).split(' ')[0]!, id)
  // A whole name or address beats the first word of another's.
  const whole = new Map<string, string | null>()
  for (const { id, name } of people) whole.set(folded(name), whole.has(folded(name)) ? null : id)
  for (const { id, email } of people) whole.set(folded(email), id)
  return new Map([...byName, ...whole])
}

function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase().trim().replace(/\s+/g, ' ')
}

function usersIn(data: string): string[] {
  const { mentions } = JSON.parse(data) as { mentions?: string[] }
  return mentions ?? []
}
