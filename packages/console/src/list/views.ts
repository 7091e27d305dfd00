import { keyId, mayRead } from '../service/access.ts'
import { type Data, useData } from '../service/cache.ts'
import { localDocuments } from '../service/own-types.ts'
import { may } from '../service/rights.ts'
import { nouns, type Page } from '../service/schema.ts'
import { request } from '../service/service.ts'
import type { Entity } from '../values/entity.ts'
import type { Look } from './look.ts'

/** A look at a list that was given a name. */
export interface View {
  readonly id: string
  readonly name: string
  readonly type: string
  /** The parts of the address that make the look. */
  readonly look: { readonly [name: string]: string }
  readonly isShared: boolean
  readonly isMine: boolean
}

export const TYPE = 'View'
export const LOCAL = 'tildebase.views'

/** The views of a type: shared ones, those of this key, and those of this browser. */
export function useViews(type: string): Data<readonly View[]> {
  const isThere = nouns.value.has(TYPE) && may('read', nouns.value.get(TYPE))
  return useData(
    ['views', type, isThere],
    async (signal) => [...(isThere ? await stored(type, signal) : []), ...local().filter((view) => view.type === type)],
    { types: [TYPE] },
  )
}

/** The views of all types that this key may see: for the sidebar. */
export function useAllViews(): Data<readonly View[]> {
  const isThere = nouns.value.has(TYPE) && may('read', nouns.value.get(TYPE))
  return useData(
    ['views', isThere],
    async (signal) => [...(isThere ? await stored(null, signal) : []), ...local()].filter(({ type }) => mayRead(type)),
    { types: [TYPE] },
  )
}

/** Whether to offer changes of a view: it is kept in this browser, or the key may write it. */
export function mayEdit(view: View): boolean {
  return isLocal(view) || ((view.isMine || view.isShared) && may('write', nouns.value.get(TYPE)))
}

/** Whether a view is kept in this browser only. */
export function isLocal(view: View): boolean {
  return view.id.startsWith('local-')
}

/** The look as parts of the address. */
export function lookText(look: Look): { readonly [name: string]: string } {
  const parts = {
    layout: look.layout === 'table' ? '' : look.layout,
    filter: Object.keys(look.filter).length === 0 ? '' : JSON.stringify(look.filter),
    text: look.text,
    sort: look.sort ?? '',
    group: look.group ?? '',
    columns: look.columns.join(','),
  }
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== ''))
}

async function stored(type: string | null, signal: AbortSignal): Promise<View[]> {
  const filter = { ...(type !== null && { type }), $or: [{ shared: true }, { owner: keyId() }] }
  const { results } = await request<Page>('GET', `/${TYPE}`, { query: { filter, sort: 'name', limit: 100 }, signal })
  return results.map(viewOf)
}

export function viewOf(entity: Entity): View {
  return {
    id: entity.$id,
    name: String(entity.name),
    type: String(entity.type),
    look: (entity.look ?? {}) as View['look'],
    isShared: entity.shared === true,
    isMine: entity.owner === keyId(),
  }
}

export function local(): readonly View[] {
  return localDocuments<View>(LOCAL)
}
