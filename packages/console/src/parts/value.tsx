import { dayText, labelOf, momentText, shortText } from '../format.ts'
import { href } from '../place.ts'
import { type Entity, type Field, isEntity, type Json, nouns, titleOf, typeOfId } from '../schema.ts'

/** A field's value, shown as what it is: a state, a time, a link to another entity. */
export function Value({ value, field, name }: { value: Json | undefined; field?: Field | undefined; name?: string }) {
  if (value === null || value === undefined || value === '') return <span class="none">—</span>
  if (field?.kind === 'forward' || isEntity(value)) return <Links value={value} target={field?.target} />
  if (field?.kind === 'enum' && typeof value === 'string') return <State value={value} values={field.values ?? []} />
  if (typeof value === 'string' && (field?.kind === 'datetime' || /(^|\w)(At|timestamp)$/.test(name ?? '')))
    return <Time iso={value} />
  if (field?.kind === 'date' && typeof value === 'string') return <time dateTime={value}>{dayText(value)}</time>
  if (typeof value === 'boolean') return <span>{value ? 'Yes' : 'No'}</span>
  if (typeof value === 'number') return <span class="number">{shortText(value)}</span>
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return <span>{value.join(', ')}</span>
  if (typeof value === 'object') return <code>{shortText(value)}</code>
  return <span>{value}</span>
}

export function Time({ iso }: { iso: string }) {
  return (
    <time dateTime={iso} title={iso}>
      {momentText(iso)}
    </time>
  )
}

/** A state with the colour of its place in the order of states. */
export function State({ value, values }: { value: string; values: readonly string[] }) {
  const tone = TONES[value.toLowerCase()] ?? `tone-${Math.max(0, values.indexOf(value)) % 6}`
  return <span class={`state ${tone}`}>{labelOf(value)}</span>
}

/** Words that mean the same wherever they stand. */
const TONES: { readonly [word: string]: string } = {
  active: 'tone-good',
  won: 'tone-good',
  paid: 'tone-good',
  delivered: 'tone-good',
  qualified: 'tone-good',
  failing: 'tone-bad',
  failed: 'tone-bad',
  exhausted: 'tone-bad',
  lost: 'tone-bad',
  revoked: 'tone-bad',
  expired: 'tone-dim',
  closed: 'tone-dim',
  inactive: 'tone-dim',
}

function Links({ value, target }: { value: Json; target?: string | undefined }) {
  const list = Array.isArray(value) ? value : [value]
  return (
    <span class="links">
      {list.map((one) => (
        <EntityLink
          key={isEntity(one) ? one.$id : String(one)}
          to={isEntity(one) ? one : String(one)}
          target={target}
        />
      ))}
    </span>
  )
}

/** A link to an entity, by its name when that is known. */
export function EntityLink({ to, target }: { to: Entity | string; target?: string | undefined }) {
  const id = typeof to === 'string' ? to : to.$id
  const type = typeof to === 'string' ? (target ?? typeOfId(id)) : to.$type
  const text = typeof to === 'string' ? shortText(id, 22) : titleOf(to, nouns.value.get(type))
  return (
    <a href={href([type, id])} title={id}>
      {text}
    </a>
  )
}
