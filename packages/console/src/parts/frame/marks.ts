import { setting } from '../../service/settings.ts'

type NamedMark = { readonly at: string; readonly name: string }

/** The moments that people named for everyone in the tenant, such as releases and imports. */
export function marks(): readonly NamedMark[] {
  const kept = setting('marks')
  const list = Array.isArray(kept) ? (kept as unknown as { at?: unknown; name?: unknown }[]) : []
  return list.flatMap(({ at, name }) => (typeof at === 'string' && typeof name === 'string' ? [{ at, name }] : []))
}
