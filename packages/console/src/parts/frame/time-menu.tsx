import { useState } from 'preact/hooks'
import { lazyWindow } from '../../lazy.tsx'
import { asOf, travel } from '../../place.ts'
import { mayConfigure } from '../../service/settings.ts'
import { t } from '../../texts/text.ts'
import { Menu, type MenuItem } from '../../ui/menu.tsx'
import { dayText } from '../../values/format.ts'
import { monthEnd } from '../../values/months.ts'
import { marks } from './marks.ts'

const NameDialog = lazyWindow(async () => (await import('../../ui/form-dialog.tsx')).NameDialog)

const DAY = 86_400_000

/** The moments that people go to often, and those that they named. */
export function TimeMenu({ start }: { start: number }) {
  const [naming, setNaming] = useState(false)
  const now = new Date()
  const [year, month] = [now.getFullYear(), now.getMonth()]
  const presets: readonly (readonly [string, Date])[] = [
    [t('Yesterday'), new Date(now.getTime() - DAY)],
    [t('A week ago'), new Date(now.getTime() - 7 * DAY)],
    [t('End of last month'), monthEnd(year, month - 1)],
    [t('End of last quarter'), monthEnd(year, month - (month % 3) - 1)],
    [t('End of last year'), monthEnd(year - 1, 11)],
    [t('The beginning'), new Date(start + 1_000)],
  ]
  const to = (label: string, at: Date, section?: string): MenuItem => ({
    label,
    hint: dayText(at.toISOString()),
    ...(section !== undefined && { section }),
    onSelect: () => travel(at.toISOString()),
  })
  const items: MenuItem[] = [
    ...presets.filter(([, at]) => at.getTime() >= start).map(([label, at]) => to(label, at)),
    ...[...marks()].reverse().map(({ name, at }, n) => to(name, new Date(at), n === 0 ? t('Marks') : undefined)),
    ...(mayConfigure()
      ? [{ label: t('Mark this moment…'), icon: 'plus', section: t('New'), onSelect: () => setNaming(true) } as const]
      : []),
  ]
  return (
    <>
      <Menu
        class="quiet"
        icon="clock"
        label={<span class="wide-only">{t('Go to')}</span>}
        name={t('Go to a time')}
        items={items}
      />
      {naming && (
        <NameDialog
          title={t('Mark this moment')}
          submit={t('Mark')}
          onClose={() => setNaming(false)}
          onName={async (name) => {
            const { addMark } = await import('../../settings/add-mark.ts')
            await addMark(name, asOf.value ?? new Date().toISOString())
            setNaming(false)
          }}
        >
          <p class="hint">{t('Everyone sees the mark on the slider and in this menu.')}</p>
        </NameDialog>
      )}
    </>
  )
}
