import { t } from '../../texts/text.ts'
import { Menu } from '../../ui/menu.tsx'
import type { Noun } from '../../values/noun.ts'
import { type Look, nextSort, setLook } from '../look.ts'
import { canSort, columnLabel } from '../table/columns.ts'

/** The order of the cards in their columns. A table has it in its heads. A second choice turns it round, a third ends it. */
export function SortMenu({ noun, look }: { noun: Noun; look: Look }) {
  const by = look.sort?.replace(/^-/, '') ?? null
  const names = [...new Set([...look.columns, '$updatedAt', '$createdAt'])].filter((name) => canSort(noun, name))
  const isDown = look.sort?.startsWith('-') ?? false
  return (
    <Menu
      label={by === null ? t('Sort') : t('Sort: {}', `${columnLabel(noun, by)} ${isDown ? '↓' : '↑'}`)}
      icon="sort"
      items={names.map((name) => ({
        label: columnLabel(noun, name),
        chosen: by === name,
        ...(by === name && { hint: isDown ? '↓' : '↑' }),
        onSelect: () => setLook({ sort: nextSort(look.sort, name) }),
      }))}
    />
  )
}
