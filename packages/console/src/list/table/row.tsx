import { useEffect, useRef } from 'preact/hooks'
import { attach, chooseAndAttach, fileFields } from '../../files/attach.ts'
import { useFileDrop } from '../../files/drop.ts'
import type { FormField } from '../../parts/forms/form.tsx'
import { InPlace } from '../../parts/forms/in-place.tsx'
import { Value } from '../../parts/value.tsx'
import { verbItems } from '../../parts/verbs.tsx'
import { href } from '../../place.ts'
import { mayChange } from '../../service/access.ts'
import { titleOf } from '../../service/schema.ts'
import { t } from '../../texts/text.ts'
import { Icon } from '../../ui/icon.tsx'
import { Menu } from '../../ui/menu.tsx'
import type { Entity } from '../../values/entity.ts'
import { type Noun, titleField, verbsFor } from '../../values/noun.ts'
import type { Cells } from './cells.ts'
import { isRight, TITLE } from './columns.ts'
import { frozenClass, widthStyle } from './heading.tsx'
import { measuresOf } from './measures.ts'
import type { TableProps } from './table-props.ts'

/** One entity in a table. */
export function Row(
  props: TableProps & { entity: Entity; at: number; writes: boolean; cells: Cells; onEdit: (id: string) => void },
) {
  const { noun, entity, columns, at, selected, cells } = props
  const { widths, frozen } = measuresOf(noun)
  const row = useRef<HTMLTableRowElement>(null)
  const isActive = at === props.active
  const isSelected = selected.has(entity.$id)
  const changes = mayChange(noun)
  useEffect(() => {
    if (isActive) row.current?.scrollIntoView({ block: 'nearest' })
  }, [isActive])
  const { isOver, handlers } = useFileDrop((files) => void attach(noun, entity, files))
  const hasMenu = props.writes || (changes && (noun.verbs.delete !== undefined || verbsFor(noun, entity).length > 0))
  const items = () => [
    ...(props.writes
      ? [{ label: t('Edit row'), icon: 'edit', hint: 'e', onSelect: () => props.onEdit(entity.$id) } as const]
      : []),
    ...(fileFields(noun).length > 0
      ? [{ label: t('Attach a file…'), icon: 'clip', onSelect: () => chooseAndAttach(noun, entity) } as const]
      : []),
    ...verbItems(noun, entity, changes),
  ]
  return (
    <tr
      ref={row}
      data-row={at}
      data-id={entity.$id}
      class={`${isActive ? 'active' : ''}${isSelected ? ' selected' : ''}${isOver ? ' over' : ''}`}
      aria-current={isActive ? 'true' : undefined}
      onMouseDown={() => props.onActive(at)}
      onDblClick={() => props.writes && props.onEdit(entity.$id)}
      {...handlers}
    >
      {changes && (
        <td class="select">
          <label>
            <input
              type="checkbox"
              aria-label={t('Select {}', titleOf(entity, noun))}
              checked={isSelected}
              onChange={() => props.onSelect([entity], !isSelected)}
            />
          </label>
        </td>
      )}
      {columns.map((name, column) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the arrow keys choose cells, too
        <td
          key={name}
          class={`${isRight(noun, name) ? 'right' : ''}${cells.isOn(at, column) ? ' cell-on' : ''}${frozenClass(column, frozen)}`}
          style={widthStyle(widths[name])}
          onClick={(event) => isBare(event.target) && cells.choose({ row: at, column }, event.shiftKey)}
        >
          {cells.isEdited(at, column) ? (
            <InPlace noun={noun} entity={entity} field={noun.fields[name] as FormField} onDone={cells.endEdit} />
          ) : name === TITLE || name === titleField(noun) || (column === 0 && !columns.includes(titleOrId(noun))) ? (
            <>
              <a class="title" href={href([noun.name, entity.$id])}>
                {titleOf(entity, noun)}
              </a>
              {props.below.length > 0 && <Below noun={noun} entity={entity} below={props.below} />}
            </>
          ) : (
            <Value value={entity[name]} field={noun.fields[name]} name={name} entity={entity} isNear />
          )}
        </td>
      ))}
      <td class="row-actions">
        {hasMenu && (
          <Menu
            class="quiet icon-only"
            label={<Icon name="more" />}
            name={t('Actions for {}', titleOf(entity, noun))}
            items={items}
          />
        )}
      </td>
    </tr>
  )
}

const MOST_BELOW = 3

/** What a telephone shows below the title. */
function Below({ noun, entity, below }: { noun: Noun; entity: Entity; below: readonly string[] }) {
  const some = below.filter((name) => entity[name] !== undefined && entity[name] !== null).slice(0, MOST_BELOW)
  return (
    <span class="below">
      {some.map((name) => (
        <Value key={name} value={entity[name]} field={noun.fields[name]} name={name} entity={entity} isNear />
      ))}
    </span>
  )
}

/** Whether a click is on the cell itself, and not on a link or a button in it. */
function isBare(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('a, button, input, select, textarea, form') === null
}

function titleOrId(noun: Noun): string {
  return titleField(noun) ?? TITLE
}
