import { type Json, type JsonObject, Problem } from '@tildebase/nouns'
import type { Grant, GrantLimits, Scope } from '@tildebase/tenant'
import { common, scopesText } from '@tildebase/tenant/internal'
import { type Call, parseJson } from '../call.ts'

/** What a person allows a client: no more than it asked for, and no more than they hold. */
export interface Allowed {
  readonly scopes: string
  readonly rows?: JsonObject
  readonly limits?: GrantLimits
}

const VERB = /^[A-Za-z][\w.]{0,80}$/
const ACTIONS = ['admin', 'write', 'propose', 'read'] as const

/** The steps that a person can choose from for one scope that a client asked for, the widest first. */
export function choicesFor({ tenant }: Call, { action, area }: Scope): string[] {
  const from = ACTIONS.indexOf(action as (typeof ACTIONS)[number])
  return ACTIONS.slice(from)
    .map((one) => `${one}:${area}`)
    .filter((text) => tenant.identity.scopes(text).length > 0)
}

/** Reads the form of the consent page. */
export function allowedBy(
  call: Call,
  fields: ReadonlyMap<string, string>,
  asked: readonly Scope[],
  person: Grant,
): Allowed {
  const { tenant, read } = call
  const domainOf = (area: string) => read.nouns.get(area)?.domain ?? null
  const chosen = asked.flatMap((scope, i) => {
    const choice = fields.get(`scope${i}`) ?? ''
    return choicesFor(call, scope).includes(choice) ? tenant.identity.scopes(choice) : []
  })
  const areas = wordsIn(fields, 'areas')
  const within = areas.length === 0 ? chosen : common(chosen, areasOf(call, areas), domainOf)
  const scopes = common(within, person.scopes, domainOf)
  if (scopes.length === 0) throw new Problem('validation_error', 'Choose at least one right, or deny the request.')
  const rows = fields.get('rows')?.trim()
  const limits = limitsOf(fields)
  return {
    scopes: scopesText(scopes),
    ...(rows && { rows: tenant.identity.rows(person, parseJson(rows, 'The rows') as Json) }),
    ...(Object.keys(limits).length > 0 && { limits }),
  }
}

function areasOf({ tenant }: Call, areas: readonly string[]): Scope[] {
  return areas.flatMap((area) => {
    const scopes = tenant.identity.scopes(`admin:${area}`)
    if (scopes.length > 0) return scopes
    throw new Problem('validation_error', `${area.slice(0, 60)} is not an area: use a domain such as crm, or a type.`)
  })
}

function limitsOf(fields: ReadonlyMap<string, string>): GrantLimits {
  const writes = countOf(fields, 'writesPerDay')
  const rows = countOf(fields, 'rowsPerAnswer')
  const verbs = wordsIn(fields, 'verbs')
  const wrong = verbs.find((word) => !VERB.test(word))
  // Without it, the agent could be allowed every verb.
  if (wrong !== undefined)
    throw new Problem('validation_error', `${wrong.slice(0, 60)} is not a verb: use create, or Deal.win.`, {
      field: 'verbs',
    })
  return {
    ...(writes !== null && { writesPerDay: writes }),
    ...(rows !== null && { rowsPerAnswer: rows }),
    ...(verbs.length > 0 && { verbs }),
  }
}

function wordsIn(fields: ReadonlyMap<string, string>, name: string): string[] {
  return (fields.get(name) ?? '').split(/[\s,]+/).filter((word) => word !== '')
}

function countOf(fields: ReadonlyMap<string, string>, name: string): number | null {
  const text = fields.get(name)?.trim() ?? ''
  if (text === '') return null
  if (/^\d{1,7}$/.test(text) && Number(text) >= (name === 'rowsPerAnswer' ? 1 : 0)) return Number(text)
  throw new Problem('validation_error', `${name} must be a whole number.`, { field: name })
}
