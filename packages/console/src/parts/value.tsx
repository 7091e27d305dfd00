import type { Field, Json } from '@tildebase/nouns'
import { FileChips } from '../files/file-chips.tsx'
import { asOf, href } from '../place.ts'
import { mayRead } from '../service/access.ts'
import { useNames } from '../service/names.ts'
import { nouns, titleOf } from '../service/schema.ts'
import { t } from '../texts/text.ts'
import { Empty } from '../ui/basics.tsx'
import { actorName } from '../values/actors.ts'
import { type Entity, isEntity, typeOfId } from '../values/entity.ts'
import { dateText, initialsOf, isMoney, labelOf, momentText, moneyText, nearText, shortText } from '../values/format.ts'
import { targetOf, wordsOf } from '../values/noun.ts'
import { toneOf } from '../values/tones.ts'

interface ValueProps {
  readonly value: Json | undefined
  readonly field?: Field | undefined
  readonly name?: string
  /** The entity that the value is of: it knows the currency. */
  readonly entity?: { readonly [field: string]: Json }
  /** Whether it has little room, as in a table. */
  readonly isNear?: boolean
}

/** A field's value, shown as what it is: a state, an amount, a time, a link. */
export function Value({ value, field, name = field?.name ?? '', entity, isNear = false }: ValueProps) {
  if (value === null || value === undefined || value === '') return <Empty />
  if (field?.kind === 'forward' || field?.kind === 'back' || isEntity(value)) {
    return <Links value={value} target={targetOf(field)} />
  }
  if (field?.kind === 'file') {
    const place = isEntity(entity) ? { type: entity.$type, id: entity.$id, field: name, list: field.list } : null
    return <FileChips value={value} place={place && { ...place, asOf: asOf.value }} />
  }
  if (name === '$createdBy' && typeof value === 'string') return <span title={value}>{actorName(value)}</span>
  if (field?.kind === 'enum' && typeof value === 'string') return <State value={value} values={wordsOf(field)} />
  if (field?.kind === 'enum' && Array.isArray(value)) {
    return (
      <span class="tags">
        {value.map((word) => (
          <State key={String(word)} value={String(word)} values={wordsOf(field)} />
        ))}
      </span>
    )
  }
  if (typeof value === 'string' && (field?.kind === 'datetime' || /(^|\w)(At|timestamp)$/.test(name)))
    return <Time iso={value} isNear={isNear} />
  if (field?.kind === 'date' && typeof value === 'string') return <time dateTime={value}>{dateText(value)}</time>
  if (typeof value === 'boolean') return <span>{value ? t('Yes') : t('No')}</span>
  if (typeof value === 'number') {
    return <span class="number">{isMoney(name) ? moneyText(value, entity?.currency) : shortText(value)}</span>
  }
  if (typeof value === 'string' && isUnread(value)) return <Unread id={value} />
  if (name === 'currency' && typeof value === 'string') return <span>{value.toUpperCase()}</span>
  if (typeof value === 'string') return <Text value={value} name={name} />
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return <span>{value.join(', ')}</span>
  return <code>{shortText(value)}</code>
}

/** A string; mail addresses, telephone numbers and web addresses are links. */
function Text({ value, name }: { value: string; name: string }) {
  if (/^[^\s@<>"]+@[^\s@<>"]+\.[^\s@<>"]+$/.test(value)) {
    const at = value.indexOf('@')
    return (
      <a href={`mailto:${value}`}>
        {value.slice(0, at)}
        <wbr />
        {value.slice(at)}
      </a>
    )
  }
  if (/phone|mobile|fax/i.test(name) && /^[+\d][\d\s()./-]{4,}$/.test(value)) {
    return <a href={`tel:${value.replace(/[^+\d]/g, '')}`}>{value}</a>
  }
  if (/^https?:\/\/[^\s"<>]+$/i.test(value)) {
    return (
      <a href={value} target="_blank" rel="noreferrer noopener">
        {value.replace(/^https?:\/\/(www\.)?/i, '')}
      </a>
    )
  }
  return <span>{value}</span>
}

export function Time({ iso, isNear = false }: { iso: string; isNear?: boolean }) {
  return (
    <time dateTime={iso} title={isNear ? momentText(iso) : iso}>
      {isNear ? nearText(iso) : momentText(iso)}
    </time>
  )
}

/** A state in the colour of what it means. */
export function State({ value, values = [] }: { value: string; values?: readonly string[] }) {
  return <span class={`state tone-${toneOf(value, values)}`}>{labelOf(value)}</span>
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

/** A link to an entity by its name. */
export function EntityLink({ to, target }: { to: Entity | string; target?: string | undefined }) {
  if (typeof to === 'string') return <LinkById id={to} target={target} />
  return <NamedLink id={to.$id} type={to.$type} name={titleOf(to, nouns.value.get(to.$type))} />
}

/** A link to an entity whose name has to be asked for. */
function LinkById({ id, target }: { id: string; target: string | undefined }) {
  const type = typeIn(id, target)
  const names = useNames([id])
  if (nouns.value.has(type) && !mayRead(type)) return <Unread id={id} />
  return <NamedLink id={id} type={type} name={names.get(id) ?? shortText(id, 22)} />
}

function NamedLink({ id, type, name }: { id: string; type: string; name: string }) {
  return (
    <a
      href={href([type, id])}
      title={name}
      {...(type === 'User' && { class: 'person', dir: 'auto', 'data-initials': initialsOf(name) })}
    >
      {name}
    </a>
  )
}

/** Whether a value is the id of an entity that the key cannot read. */
function isUnread(value: string): boolean {
  const type = typeOfId(value)
  return /^\w+_\w{16,}$/.test(value) && nouns.value.has(type) && !mayRead(type)
}

/** What the key cannot read: people by the name that is known, all else without its id. */
function Unread({ id }: { id: string }) {
  return <span class="none">{typeOfId(id) === 'User' ? actorName(id) : t('hidden')}</span>
}

/** The type of an id: by its beginning, or the target of the relation where that says nothing. */
function typeIn(id: string, target: string | undefined): string {
  const type = typeOfId(id)
  return nouns.value.has(type) ? type : (target ?? type)
}
