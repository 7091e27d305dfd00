import { type Filter, type Noun, parseFilter } from '@tildebase/nouns'
import { regexFault } from './query/regex.ts'
import type { Tenant } from './tenant.ts'

/** A filter in the query language, parsed for a type. */
export function filterOf(tenant: Tenant, noun: Noun, json: unknown): Filter {
  return parseFilter(json ?? {}, noun, tenant.nouns, tenant.now(), { regex: regexFault })
}
