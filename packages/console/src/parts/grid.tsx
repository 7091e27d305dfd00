import { useEffect, useRef, useState } from 'preact/hooks'
import { mayChange } from '../access.ts'
import { ask } from '../api.ts'
import { labelOf } from '../format.ts'
import { useKeys } from '../keyboard.ts'
import { href } from '../place.ts'
import { type Entity, type Field, type Json, type Noun, titleField, titleOf } from '../schema.ts'
import { Scroll } from './basics.tsx'
import { FieldInput } from './field-input.tsx'
import type { Draft } from './form.tsx'
import { Menu } from './menu.tsx'
import { say, sayError } from './notes.tsx'
import { Value } from './value.tsx'
import { VerbButtons } from './verbs.tsx'

export interface GridProps {
  readonly noun: Noun
  readonly columns: readonly string[]
  readonly rows: readonly Entity[]
  readonly sort: string | null
  readonly active: number
  readonly busy: boolean
  readonly onSort: (column: string) => void
  readonly onActive: (row: number) => void
  readonly onOpen: (entity: Entity) => void
  readonly onChanged: () => void
}

/** Entities in rows. One row can be edited where it stands. */
export function Grid(props: GridProps) {
  const { noun, columns, rows, active } = props
  const [editing, setEditing] = useState<string | null>(null)
  const writes = mayChange(noun) && noun.verbs.update !== undefined
  useKeys({ e: () => writes && setEditing(rows[active]?.$id ?? null) })
  return (
    <Scroll label={labelOf(noun.path)} busy={props.busy}>
      <table class="grid">
        <thead>
          <tr>
            {columns.map((name) => (
              <th
                key={name}
                scope="col"
                class={noun.fields[name]?.kind === 'number' ? 'right' : ''}
                aria-sort={order(props.sort, name)}
              >
                <button type="button" class="quiet" onClick={() => props.onSort(name)}>
                  {labelOf(name)}
                </button>
              </th>
            ))}
            <th scope="col">
              <span class="unseen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((entity, at) =>
            entity.$id === editing && writes ? (
              <EditRow key={entity.$id} {...props} entity={entity} onDone={() => setEditing(null)} />
            ) : (
              <Row
                key={entity.$id}
                {...props}
                entity={entity}
                at={at}
                writes={writes}
                onEdit={() => setEditing(entity.$id)}
              />
            ),
          )}
        </tbody>
      </table>
    </Scroll>
  )
}

function Row(props: GridProps & { entity: Entity; at: number; writes: boolean; onEdit: () => void }) {
  const { noun, entity, columns, at, active } = props
  const row = useRef<HTMLTableRowElement>(null)
  const isActive = at === active
  useEffect(() => {
    if (isActive) row.current?.scrollIntoView({ block: 'nearest' })
  }, [isActive])
  return (
    <tr
      ref={row}
      class={isActive ? 'active' : ''}
      aria-current={isActive ? 'true' : undefined}
      onMouseDown={() => props.onActive(at)}
      onDblClick={() => props.writes && props.onEdit()}
    >
      {columns.map((name, column) => (
        <td key={name} class={noun.fields[name]?.kind === 'number' ? 'right' : ''}>
          {name === titleField(noun) || (column === 0 && name === '$id') ? (
            <a class="title" href={href([noun.name, entity.$id])}>
              {titleOf(entity, noun)}
            </a>
          ) : (
            <Value value={entity[name]} field={noun.fields[name]} name={name} />
          )}
        </td>
      ))}
      <td class="row-actions">
        <div>
          {props.writes && (
            <button type="button" class="quiet" onClick={props.onEdit} aria-label={`Edit ${titleOf(entity, noun)}`}>
              Edit
            </button>
          )}
          {mayChange(noun) && (
            <Menu label="Do" name={`Do with ${titleOf(entity, noun)}`} quiet>
              <VerbButtons noun={noun} entity={entity} onDone={props.onChanged} />
              {noun.verbs.delete && <Remove noun={noun} entity={entity} onDone={props.onChanged} />}
            </Menu>
          )}
        </div>
      </td>
    </tr>
  )
}

/** Deletes at once: what is deleted stays in the past, and can be restored from there. */
export function Remove({ noun, entity, onDone }: { noun: Noun; entity: Entity; onDone: () => void }) {
  const remove = () =>
    ask('DELETE', `/${noun.name}/${entity.$id}`).then(() => {
      say(`${titleOf(entity, noun)} deleted. Its page can restore it.`)
      onDone()
    }, sayError)
  return (
    <button type="button" class="verb danger" onClick={() => void remove()}>
      Delete
    </button>
  )
}

function EditRow(props: GridProps & { entity: Entity; onDone: () => void }) {
  const { noun, entity, columns } = props
  const [draft, setDraft] = useState<Draft>({})
  const row = useRef<HTMLTableRowElement>(null)
  useEffect(() => row.current?.querySelector<HTMLElement>('input, select, textarea')?.focus(), [])
  const save = async () => {
    try {
      await ask('PUT', `/${noun.name}/${entity.$id}`, { body: draft, headers: { 'if-match': `"${entity.$version}"` } })
      say(`${titleOf({ ...entity, ...draft }, noun)} saved.`)
      props.onDone()
      props.onChanged()
    } catch (reason) {
      sayError(reason)
    }
  }
  useKeys({
    'mod+s': () => void save(),
    'mod+Enter': () => void save(),
    Enter: () => void save(),
    Escape: props.onDone,
  })
  const enter = (event: KeyboardEvent) => {
    if (
      event.key !== 'Enter' ||
      event.target instanceof HTMLTextAreaElement ||
      event.target instanceof HTMLButtonElement
    )
      return
    event.preventDefault()
    void save()
  }
  return (
    <tr class="editing" ref={row} onKeyDown={enter}>
      {columns.map((name) => (
        <td key={name}>
          {isEditable(noun.fields[name]) ? (
            <FieldInput
              id={`edit-${name}`}
              label={labelOf(name)}
              field={noun.fields[name]!}
              value={name in draft ? draft[name] : (entity[name] as Json | undefined)}
              onChange={(value) => setDraft((old) => ({ ...old, [name]: value }))}
            />
          ) : (
            <Value value={entity[name]} field={noun.fields[name]} name={name} />
          )}
        </td>
      ))}
      <td class="row-actions">
        <div>
          <button type="button" class="primary" onClick={() => void save()}>
            Save
          </button>
          <button type="button" class="quiet" onClick={props.onDone}>
            Cancel
          </button>
        </div>
      </td>
    </tr>
  )
}

function isEditable(field: Field | undefined): boolean {
  return field !== undefined && field.kind !== 'back' && !field.service && field.kind !== 'secret'
}

function order(sort: string | null, name: string): 'ascending' | 'descending' | 'none' {
  return sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : 'none'
}
