import type { Json } from '@tildebase/nouns'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useKeys } from '../../keyboard.ts'
import { Value } from '../../parts/value.tsx'
import { mayChange } from '../../service/access.ts'
import { nouns, titleOf } from '../../service/schema.ts'
import { confirmDiscard } from '../../ui/dialog.tsx'
import { type Entity, isEntity } from '../../values/entity.ts'
import { labelOf, monthYearText } from '../../values/format.ts'
import type { Noun } from '../../values/noun.ts'
import { isTimed } from '../look.ts'
import { useCells } from './cells.ts'
import { columnLabel, TITLE } from './columns.ts'
import { EditRow } from './edit-row.tsx'
import { isRight, Row } from './row.tsx'
import { forgetRow, unfinishedRow } from './row-draft.ts'
import type { TableProps } from './table-props.ts'

/** Entities in rows. A row can be edited in place, selected, and opened. */
export function Table(props: TableProps) {
  const { noun, columns, active, selected } = props
  const rows = props.page.results
  const [editing, setEditing] = useState<string | null>(() => unfinishedRow(noun))
  const isDirty = useRef(false)
  const box = useRef<HTMLElement>(null)
  const writes = mayChange(noun) && noun.verbs.update !== undefined
  const edit = async (id: string | null) => {
    if (isDirty.current && !(await confirmDiscard())) return
    if (editing !== null) forgetRow(noun, editing)
    isDirty.current = false
    setEditing(id)
  }
  // The focus returns to the row when its edit ends: with the drawing, so that it does not move away from where a key put it.
  const edited = useRef<string | null>(null)
  useLayoutEffect(() => {
    if (editing === null && edited.current !== null) {
      box.current?.querySelector<HTMLElement>(`tr[data-id="${edited.current}"] .title`)?.focus()
    }
    edited.current = editing
  }, [editing])
  const cells = useCells(noun, columns, rows, active)
  const row = rows[active]
  useKeys({
    e: () => writes && row && void edit(row.$id),
    x: () => row && mayChange(noun) && props.onSelect([row], !selected.has(row.$id)),
  })
  // Another page begins at its first row.
  useEffect(() => box.current?.scrollTo({ top: 0 }), [props.page.begin])
  const isAll = rows.length > 0 && rows.every(({ $id }) => selected.has($id))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it the arrow keys cannot reach what is out of sight
    <section class="scroll table-box" aria-label={labelOf(noun.path)} aria-busy={props.busy} tabIndex={0} ref={box}>
      <table class="grid">
        <thead>
          <tr>
            {mayChange(noun) && (
              <th scope="col" class="select">
                <label>
                  <input
                    type="checkbox"
                    aria-label="Select all rows of this page"
                    checked={isAll}
                    onChange={() => props.onSelect(rows, !isAll)}
                  />
                </label>
              </th>
            )}
            {columns.map((name) => (
              <Heading key={name} name={name} {...props} />
            ))}
            <th scope="col" class="row-actions">
              <span class="unseen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((entity, at) => (
            <>
              {props.group !== null && startsGroup(noun, rows, at, props.group) && (
                <GroupHead key={`group ${at}`} {...props} value={entity[props.group] ?? null} />
              )}
              {entity.$id === editing && writes ? (
                <EditRow
                  key={`edit ${entity.$id}`}
                  noun={noun}
                  columns={columns}
                  entity={entity}
                  onDirty={(dirty) => {
                    isDirty.current = dirty
                  }}
                  onCancel={() => void edit(null)}
                  onSaved={() => {
                    isDirty.current = false
                    setEditing(null)
                  }}
                />
              ) : (
                <Row
                  key={entity.$id}
                  {...props}
                  entity={entity}
                  at={at}
                  writes={writes}
                  cells={cells}
                  onEdit={() => void edit(entity.$id)}
                />
              )}
            </>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Heading({ name, noun, sort, onSort, onMoveColumn }: TableProps & { name: string }) {
  const canSort = name !== TITLE && noun.fields[name]?.kind !== 'json'
  const label = columnLabel(noun, name)
  return (
    <th
      scope="col"
      class={isRight(noun, name) ? 'right' : ''}
      aria-sort={canSort ? order(sort, name) : undefined}
      draggable
      onDragStart={(event) => event.dataTransfer?.setData('text/x-column', name)}
      onDragOver={(event) => event.dataTransfer?.types.includes('text/x-column') && event.preventDefault()}
      onDrop={(event) => {
        const moved = event.dataTransfer?.getData('text/x-column')
        if (moved && moved !== name) onMoveColumn(moved, name)
      }}
    >
      {canSort ? (
        <button type="button" class="quiet" onClick={() => onSort(name)}>
          {label}
        </button>
      ) : (
        <span class="heading">{label}</span>
      )}
    </th>
  )
}

function GroupHead({ noun, columns, group, page, value }: TableProps & { value: Json }) {
  const named = isEntity(value) ? titleOf(value, nouns.value.get(value.$type)) : value
  const count = page.groups?.find((one) => one.value === named)?.count
  const isMonth = isTimed(noun, group!) && typeof value === 'string'
  return (
    <tr class="group-head">
      <th scope="rowgroup" colSpan={columns.length + 2}>
        {value === null && `No ${labelOf(group!).toLowerCase()}`}
        {isMonth && monthYearText(value)}
        {value !== null && !isMonth && <Value value={value} field={noun.fields[group!]} />}
        {count !== undefined && <span class="count">{count}</span>}
      </th>
    </tr>
  )
}

function startsGroup(noun: Noun, rows: readonly Entity[], at: number, group: string): boolean {
  return at === 0 || groupKey(noun, rows[at], group) !== groupKey(noun, rows[at - 1], group)
}

/** What the rows of a group have in common. */
function groupKey(noun: Noun, entity: Entity | undefined, group: string): string {
  const value = entity?.[group] ?? null
  return isTimed(noun, group) && typeof value === 'string' ? monthYearText(value) : JSON.stringify(value)
}

function order(sort: string | null, name: string): 'ascending' | 'descending' | 'none' {
  return sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : 'none'
}
