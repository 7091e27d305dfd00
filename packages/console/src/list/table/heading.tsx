import { t } from '../../texts/text.ts'
import { canSort, columnLabel, isRight } from './columns.ts'
import { measuresOf, setWidth } from './measures.ts'
import type { TableProps } from './table-props.ts'

const STEP = 16

/** The head of a column: it sorts, is dragged to another place, and is made wider or narrower. */
export function Heading(props: TableProps & { name: string; at: number }) {
  const { name, at, noun, sort, onSort, onMoveColumn } = props
  const isSortable = canSort(noun, name)
  const label = columnLabel(noun, name)
  const { widths, frozen } = measuresOf(noun)
  return (
    <th
      scope="col"
      class={`${isRight(noun, name) ? 'right' : ''}${frozenClass(at, frozen)}`}
      style={widthStyle(widths[name])}
      data-column={name}
      aria-sort={isSortable ? order(sort, name) : undefined}
      draggable
      onDragStart={(event) => event.dataTransfer?.setData('text/x-column', name)}
      onDragOver={(event) => event.dataTransfer?.types.includes('text/x-column') && event.preventDefault()}
      onDrop={(event) => {
        const moved = event.dataTransfer?.getData('text/x-column')
        if (moved && moved !== name) onMoveColumn(moved, name)
      }}
      onKeyDown={(event) => {
        const by = event.key === 'ArrowRight' ? STEP : event.key === 'ArrowLeft' ? -STEP : 0
        if (!event.shiftKey || by === 0) return
        event.preventDefault()
        event.stopPropagation()
        setWidth(noun, name, event.currentTarget.offsetWidth + by)
      }}
    >
      {isSortable ? (
        <button type="button" class="quiet" onClick={() => onSort(name)}>
          {label}
        </button>
      ) : (
        <span class="heading">{label}</span>
      )}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: Shift and the arrow keys do the same in the head */}
      <span
        class="resize"
        title={t('Drag to resize, double click to reset. Shift and the arrow keys do the same.')}
        draggable
        // The head would be dragged to another place.
        onDragStart={(event) => {
          event.preventDefault()
          event.stopPropagation()
        }}
        onDblClick={() => setWidth(noun, name, null)}
        onPointerDown={(event) => follow(event, (width) => setWidth(noun, name, width))}
      />
    </th>
  )
}

/** Follows the pointer from the edge of a column until it is let go. */
function follow(event: PointerEvent, onWidth: (width: number) => void): void {
  const edge = event.currentTarget as HTMLElement
  const head = edge.closest('th')!
  const [start, width] = [event.clientX, head.offsetWidth]
  const side = getComputedStyle(head).direction === 'rtl' ? -1 : 1
  event.preventDefault()
  edge.setPointerCapture(event.pointerId)
  edge.onpointermove = (moved) => onWidth(width + (moved.clientX - start) * side)
  edge.onpointerup = () => {
    edge.onpointermove = null
    edge.onpointerup = null
  }
}

/** The class of a column that stays in sight. */
export function frozenClass(at: number, frozen: number): string {
  return at < frozen ? ` frozen frozen-${at}` : ''
}

/** A column that was resized is exactly as wide as people made it. */
export function widthStyle(width: number | undefined): { [name: string]: string } | undefined {
  if (width === undefined) return undefined
  return { width: `${width}px`, minWidth: `${width}px`, maxWidth: `${width}px` }
}

function order(sort: string | null, name: string): 'ascending' | 'descending' | 'none' {
  return sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : 'none'
}
