import type { Json } from '@tildebase/nouns'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useKeys } from '../../keyboard.ts'
import { lazy } from '../../lazy.tsx'
import { Value } from '../../parts/value.tsx'
import { mayChange } from '../../service/access.ts'
import { t } from '../../texts/text.ts'
import { useTurns } from '../../turns.ts'
import { confirmDiscard } from '../../ui/dialog.tsx'
import { isNarrow } from '../../ui/narrow.ts'
import { type Entity, isEntity } from '../../values/entity.ts'
import { inSentence, labelOf, monthYearText, numberText } from '../../values/format.ts'
import type { Noun } from '../../values/noun.ts'
import { isTimed } from '../look.ts'
import { useCells } from './cells.ts'
import { isRight } from './columns.ts'
import { EditRow, type EditState } from './edit-row.tsx'
import { Heading } from './heading.tsx'
import { measuresOf } from './measures.ts'
import { Row } from './row.tsx'
import { forgetRow, unfinishedRow } from './row-draft.ts'
import type { TableProps } from './table-props.ts'

const Foot = lazy(
  async () => (await import('./foot.tsx')).Foot,
  () => null,
)

/** So many rows are drawn at once: those of a telephone's screen, or of another one's. */
const NARROW_ROWS = 9
const WIDE_ROWS = 25

/** Entities in rows. A row can be edited in place, selected, and opened. */
export function Table(props: TableProps) {
  const { noun, columns, active, selected } = props
  const rows = props.page.results
  const [editing, setEditing] = useState<string | null>(() => unfinishedRow(noun))
  const state = useRef<EditState>('unchanged')
  const box = useRef<HTMLElement>(null)
  const writes = mayChange(noun) && noun.verbs.update !== undefined
  const edit = async (id: string | null) => {
    if (state.current === 'changed' && !(await confirmDiscard())) return
    // A row that is being saved forgets its draft when it is.
    if (editing !== null && state.current !== 'saving') forgetRow(noun, editing)
    state.current = 'unchanged'
    setEditing(id)
  }
  // The same function for all rows and drawings: a row whose properties are the same is not drawn again.
  const latest = useRef(edit)
  latest.current = edit
  const [editRow] = useState(() => (id: string) => void latest.current(id))
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
  // Columns that stay in sight need to know where those before them end.
  const { widths, frozen } = measuresOf(noun)
  useLayoutEffect(() => {
    // A telephone has none of them, and measuring takes a drawing of all rows.
    if (isNarrow.value) return
    const heads = [...(box.current?.querySelectorAll<HTMLElement>('thead th') ?? [])]
    const first = heads[0]?.classList.contains('select') ? 1 : 0
    const sizes = heads.slice(0, first + frozen).map((head) => head.offsetWidth)
    let left = 0
    for (const [at, size] of sizes.entries()) {
      if (at >= first) box.current?.style.setProperty(`--frozen-${at - first}`, `${left}px`)
      left += size
    }
  }, [props.page, columns.join(), widths, frozen, isNarrow.value])
  const turn = isNarrow.value ? NARROW_ROWS : WIDE_ROWS
  const drawn = useTurns(rows.length, turn, turn)
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
                    aria-label={t('Select all rows of this page')}
                    checked={isAll}
                    onChange={() => props.onSelect(rows, !isAll)}
                  />
                </label>
              </th>
            )}
            {columns.map((name, at) => (
              <Heading key={name} name={name} at={at} {...props} />
            ))}
            <th scope="col" class="row-actions">
              <span class="unseen">{t('Actions')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, drawn).map((entity, at) => (
            <>
              {props.group !== null && startsGroup(noun, rows, at, props.group) && (
                <GroupHead key={`group ${at}`} {...props} value={entity[props.group] ?? null} />
              )}
              {entity.$id === editing && writes ? (
                <EditRow
                  key={`edit ${entity.$id}`}
                  noun={noun}
                  columns={columns}
                  below={props.below}
                  entity={entity}
                  onState={(next) => {
                    state.current = next
                  }}
                  onCancel={() => void edit(null)}
                  // Another row may be edited by now.
                  onSaved={() => setEditing((now) => (now === entity.$id ? null : now))}
                />
              ) : (
                <Row
                  key={entity.$id}
                  {...props}
                  entity={entity}
                  at={at}
                  writes={writes}
                  cells={cells}
                  onEdit={editRow}
                />
              )}
            </>
          ))}
        </tbody>
        {[...columns, ...props.below].some((name) => isRight(noun, name)) && (
          <Foot question={props.question} columns={columns} below={props.below} hasBoxes={mayChange(noun)} />
        )}
      </table>
    </section>
  )
}

function GroupHead({ noun, columns, group, page, value }: TableProps & { value: Json }) {
  const id = isEntity(value) ? value.$id : value
  const count = page.groups?.find((one) => one.value === id)?.count
  const isMonth = isTimed(noun, group!) && typeof value === 'string'
  return (
    <tr class="group-head">
      <th scope="rowgroup" colSpan={columns.length + 2}>
        {value === null && t('No {}', inSentence(group!))}
        {isMonth && monthYearText(value)}
        {value !== null && !isMonth && <Value value={value} field={noun.fields[group!]} />}
        {count !== undefined && <span class="count">{numberText(count)}</span>}
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
  if (isEntity(value)) return value.$id
  return isTimed(noun, group) && typeof value === 'string' ? monthYearText(value) : JSON.stringify(value)
}
