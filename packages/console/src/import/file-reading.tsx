import { t } from '../texts/text.ts'
import { numberText } from '../values/format.ts'
import { ENCODINGS, type ReadOptions, SEPARATORS, type Table } from './read.ts'

/** How a file was read, and what people change when it was read wrongly. */
export function FileReading(props: {
  table: Table | null
  reading: ReadOptions
  onChange: (reading: ReadOptions) => void
}) {
  const { table, reading, onChange } = props
  const encoding = table?.encoding ?? reading.encoding ?? ''
  const separator = table?.separator ?? reading.separator ?? ''
  return (
    <p class="file-reading">
      {table && `${numberText(table.rows.length)} ${table.rows.length === 1 ? t('row') : t('rows')}, `}
      {t('separated by')}{' '}
      <select
        aria-label={t('Separator')}
        value={separator}
        onChange={(event) => onChange({ ...reading, separator: event.currentTarget.value })}
      >
        {!Object.hasOwn(SEPARATORS, separator) && <option value={separator}>{separator}</option>}
        {Object.entries(SEPARATORS).map(([sign, name]) => (
          <option key={sign} value={sign}>
            {name}
          </option>
        ))}
      </select>
      {t(', written in')}{' '}
      <select
        aria-label={t('Encoding')}
        value={encoding}
        onChange={(event) => onChange({ ...reading, encoding: event.currentTarget.value })}
      >
        {!Object.hasOwn(ENCODINGS, encoding) && <option value={encoding}>{encoding || t('unknown')}</option>}
        {Object.entries(ENCODINGS).map(([label, name]) => (
          <option key={label} value={label}>
            {name}
          </option>
        ))}
      </select>
    </p>
  )
}
