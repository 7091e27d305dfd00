import { useLayoutEffect, useMemo, useState } from 'preact/hooks'
import { useKeys } from '../../keyboard.ts'
import { nouns, titleOf } from '../../service/schema.ts'
import { sayError } from '../../toast.ts'
import { type Entity, isEntity } from '../../values/entity.ts'
import { isEditable, type Noun } from '../../values/noun.ts'
import { TITLE } from './columns.ts'

/** A cell of a table by its row and its column. */
interface Place {
  readonly row: number
  readonly column: number
}

/** The cells that people chose, to write in, copy and paste. */
export interface Cells {
  isOn(row: number, column: number): boolean
  isEdited(row: number, column: number): boolean
  choose(place: Place, isExtended: boolean): void
  endEdit(): void
}

/** Lets people choose cells with the pointer or the keyboard, write in one, and copy and paste many. */
export function useCells(noun: Noun, columns: readonly string[], rows: readonly Entity[], active: number): Cells {
  const [at, setAt] = useState<Place | null>(null)
  const [end, setEnd] = useState<Place | null>(null)
  const [isEditing, setEditing] = useState(false)
  const canEdit = (place: Place) => isEditable(noun, noun.fields[columns[place.column] ?? ''])
  const choose = (place: Place, isExtended: boolean) => {
    setEditing(false)
    if (!isExtended || at === null) setAt(place)
    setEnd(place)
  }
  const move = (rowBy: number, columnBy: number) => (event: KeyboardEvent) => {
    const from = end ?? at!
    const row = Math.min(Math.max(from.row + rowBy, 0), rows.length - 1)
    const column = Math.min(Math.max(from.column + columnBy, 0), columns.length - 1)
    choose({ row, column }, event.shiftKey)
  }
  const edit = (event: KeyboardEvent) => {
    // A button or link that has the focus keeps its own Enter.
    if (event.target instanceof HTMLElement && event.target.matches('a, button, summary, input')) event.target.click()
    else if (at && canEdit(at)) setEditing(true)
  }
  const begin = () => {
    if (!rows[active]) return
    document.querySelector<HTMLElement>('.table-box')?.focus()
    choose({ row: active, column: 0 }, false)
  }
  const isChosen = at !== null && !isEditing
  useKeys({
    ...(at === null && { i: begin }),
    ...(isChosen && {
      ArrowUp: move(-1, 0),
      ArrowDown: move(1, 0),
      ArrowLeft: move(0, -1),
      ArrowRight: move(0, 1),
      Enter: edit,
      F2: edit,
      Escape: () => setAt(null),
    }),
  })
  // Another page has other cells.
  const ids = rows.map(({ $id }) => $id).join()
  useLayoutEffect(() => {
    setAt(null)
    setEditing(false)
  }, [ids])
  useLayoutEffect(() => {
    if (!isChosen) return
    const { top, bottom, left, right } = rangeOf(at, end)
    const copy = (event: ClipboardEvent) => {
      // A text that is selected is what people mean.
      if (isTyping() || String(getSelection()) !== '') return
      const lines = rows.slice(top, bottom + 1).map((entity) =>
        columns
          .slice(left, right + 1)
          .map((name) => quoted(textOf(noun, entity, name)))
          .join('\t'),
      )
      event.clipboardData?.setData('text/plain', lines.join('\n'))
      event.preventDefault()
    }
    const paste = (event: ClipboardEvent) => {
      const text = event.clipboardData?.getData('text/plain') ?? ''
      if (isTyping() || text === '') return
      event.preventDefault()
      const names = columns.slice(left)
      const size = { rows: bottom - top + 1, columns: right - left + 1 }
      import('./paste.ts')
        .then(({ pasteCells }) => pasteCells(noun, names, rows.slice(top), size, text))
        .catch(sayError)
    }
    document.addEventListener('copy', copy)
    document.addEventListener('paste', paste)
    return () => {
      document.removeEventListener('copy', copy)
      document.removeEventListener('paste', paste)
    }
  })
  return useMemo(
    () => ({
      isOn: (row, column) => {
        if (at === null) return false
        const { top, bottom, left, right } = rangeOf(at, end)
        return row >= top && row <= bottom && column >= left && column <= right
      },
      isEdited: (row, column) => isEditing && at?.row === row && at.column === column,
      choose,
      endEdit: () => setEditing(false),
    }),
    [at, end, isEditing],
  )
}

function rangeOf(at: Place, end: Place | null) {
  const to = end ?? at
  return {
    top: Math.min(at.row, to.row),
    bottom: Math.max(at.row, to.row),
    left: Math.min(at.column, to.column),
    right: Math.max(at.column, to.column),
  }
}

/** A value as a spreadsheet takes it: relations by name. */
function textOf(noun: Noun, entity: Entity, name: string): string {
  if (name === TITLE) return titleOf(entity, noun)
  const value = entity[name]
  if (value === null || value === undefined) return ''
  if (isEntity(value)) return titleOf(value, nouns.value.get(value.$type))
  if (Array.isArray(value)) return value.map((one) => (isEntity(one) ? titleOf(one) : String(one))).join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function quoted(text: string): string {
  return /["\t\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function isTyping(): boolean {
  return document.activeElement?.matches('input:not([type=checkbox]), textarea, select, [contenteditable]') ?? false
}
