import { useState } from 'preact/hooks'
import { lazyWindow } from '../lazy.tsx'
import { asOf, go } from '../place.ts'
import { mayChange, mayDeclare } from '../service/access.ts'
import { mayConfigure } from '../service/settings.ts'
import { t } from '../texts/text.ts'
import { Icon } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import type { Noun } from '../values/noun.ts'
import { exportItems } from './export/export.ts'

const ChoicesDialog = lazyWindow(async () => (await import('../choices/choices-dialog.tsx')).ChoicesDialog)
const DuplicatesDialog = lazyWindow(async () => (await import('../duplicates/duplicates-dialog.tsx')).DuplicatesDialog)

/** The menu of a list: columns, import, the bin and exports. */
export function ListActions(props: { noun: Noun; filter: object; total: number | null; onColumns: () => void }) {
  const { noun, filter, total, onColumns } = props
  const [isChoosing, setChoosing] = useState(false)
  const [isMatching, setMatching] = useState(false)
  const hasChoices = Object.values(noun.fields).some((field) => field.kind === 'enum' && !field.service)
  return (
    <>
      <Menu
        class="icon-only"
        label={<Icon name="more" />}
        name={t('List actions')}
        items={[
          { label: t('Columns…'), icon: 'columns', onSelect: onColumns },
          ...(mayChange(noun)
            ? [{ label: t('Import…'), icon: 'upload', onSelect: () => go(['import'], { type: noun.name }) } as const]
            : []),
          ...(hasChoices && asOf.value === null && (mayDeclare() || mayConfigure())
            ? [{ label: t('Choices and colours…'), icon: 'shape', onSelect: () => setChoosing(true) } as const]
            : []),
          ...(mayChange(noun) && noun.verbs.merge
            ? [{ label: t('Find duplicates…'), icon: 'people', onSelect: () => setMatching(true) } as const]
            : []),
          { label: t('Deleted ones'), icon: 'bin', onSelect: () => go(['bin'], { type: noun.name }) },
          ...exportItems(noun, { filter, total }),
        ]}
      />
      {isChoosing && <ChoicesDialog noun={noun} onClose={() => setChoosing(false)} />}
      {isMatching && <DuplicatesDialog noun={noun} onClose={() => setMatching(false)} />}
    </>
  )
}
