import { go } from '../place.ts'
import { mayChange } from '../service/access.ts'
import { Icon } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import type { Noun } from '../values/noun.ts'
import { exportItems } from './export/export.ts'

/** The menu of a list: columns, import, the bin and exports. */
export function ListActions(props: { noun: Noun; filter: object; total: number | null; onColumns: () => void }) {
  const { noun, filter, total, onColumns } = props
  return (
    <Menu
      class="icon-only"
      label={<Icon name="more" />}
      name="List actions"
      items={[
        { label: 'Columns…', icon: 'columns', onSelect: onColumns },
        ...(mayChange(noun)
          ? [{ label: 'Import…', icon: 'upload', onSelect: () => go(['import'], { type: noun.name }) } as const]
          : []),
        { label: 'Deleted ones', icon: 'bin', onSelect: () => go(['bin'], { type: noun.name }) },
        ...exportItems(noun, { filter, total }),
      ]}
    />
  )
}
