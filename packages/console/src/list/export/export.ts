import { asOf } from '../../place.ts'
import { t } from '../../texts/text.ts'
import { sayError } from '../../toast.ts'
import type { MenuItem } from '../../ui/menu.tsx'
import type { Noun } from '../../values/noun.ts'
import { lookOf } from '../look.ts'
import { type Export, type Exported, type Format, MOST_IDS } from './export-jobs.ts'

const FORMATS: readonly (readonly [Format, label: () => string])[] = [
  ['sheet', () => t('Spreadsheet, as shown')],
  ['csv', () => t('CSV, all fields')],
  ['json', () => 'JSON'],
  ['ndjson', () => t('NDJSON, one line each')],
  ['parquet', () => t('Parquet, for analysis')],
]

/** The items of a menu that exports entities, as of the time shown. */
export function exportItems(noun: Noun, what: Exported): MenuItem[] {
  const isLarge = 'selected' in what && what.selected.length > MOST_IDS
  return FORMATS.map(([format, label], at) => ({
    label: label(),
    icon: 'download',
    ...(at === 0 && { section: t('Export') }),
    ...(isLarge && format === 'parquet' && { disabled: true, hint: t('at most 1,000') }),
    onSelect: () => start({ noun, format, what, shown: lookOf(noun), time: asOf.value }).catch(sayError),
  }))
}

async function start(wanted: Export): Promise<void> {
  const { runExport } = await import('./run-export.ts')
  runExport(wanted)
}
