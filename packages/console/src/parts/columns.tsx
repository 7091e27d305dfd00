import { labelOf } from '../format.ts'
import type { Noun } from '../schema.ts'
import { Menu } from './menu.tsx'

const META = ['$id', '$version', '$createdAt', '$updatedAt', '$createdBy']

/** Which columns the grid shows. */
export function ColumnChoice(props: {
  noun: Noun
  columns: readonly string[]
  onChange: (columns: readonly string[]) => void
}) {
  const { noun, columns, onChange } = props
  const own = Object.values(noun.fields).filter(({ kind }) => kind !== 'back' && kind !== 'secret')
  const names = [...own.map(({ name }) => name), ...META]
  const toggle = (name: string) =>
    onChange(
      columns.includes(name)
        ? columns.filter((one) => one !== name)
        : names.filter((one) => one === name || columns.includes(one)),
    )
  return (
    <Menu label="Columns" stays>
      <div class="choices">
        {names.map((name) => (
          <label key={name}>
            <input type="checkbox" checked={columns.includes(name)} onChange={() => toggle(name)} />
            {labelOf(name)}
          </label>
        ))}
      </div>
    </Menu>
  )
}
