import { useState } from 'preact/hooks'
import { Scroll } from '../ui/basics.tsx'
import { labelOf, numberText, shortText } from '../values/format.ts'
import { isRequired, isWritable, type Noun, plural } from '../values/noun.ts'
import { draftOf, guessMapping, type Mapping } from './convert.ts'
import type { Table } from './read.ts'

const PREVIEW = 5

/** Which column fills which field, with the first rows as they will be. */
export function ImportMapping(props: {
  noun: Noun
  table: Table
  isBusy: boolean
  onRun: (dryRun: boolean, rows: readonly object[]) => void
}) {
  const { noun, table } = props
  const [mapping, setMapping] = useState<Mapping>(() => guessMapping(noun, table.columns))
  const fields = Object.values(noun.fields).filter(isWritable)
  const missing = fields.filter(
    (field) => isRequired(field) && !hasDefault(field) && !Object.values(mapping).includes(field.name),
  )
  const drafts = table.rows.map((row) => draftOf(noun, mapping, row))
  return (
    <>
      <p class="hint">
        {numberText(table.rows.length)} {table.rows.length === 1 ? 'row' : 'rows'}, separated by {table.delimiter}.
        Choose the field for each column.
      </p>
      <Scroll label="Columns of the file">
        <table class="grid mapping">
          <thead>
            <tr>
              {table.columns.map((column) => (
                <th scope="col" key={column}>
                  <span class="heading">{column}</span>
                  <select
                    aria-label={`Field for ${column}`}
                    value={mapping[column] ?? ''}
                    onChange={(event) => setMapping({ ...mapping, [column]: event.currentTarget.value || null })}
                  >
                    <option value="">leave out</option>
                    {fields.map(({ name }) => (
                      <option key={name} value={name}>
                        {labelOf(name)}
                      </option>
                    ))}
                  </select>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {drafts.slice(0, PREVIEW).map((draft, at) => (
              <tr key={at}>
                {table.columns.map((column) => {
                  const name = mapping[column]
                  return (
                    <td key={column} class={name ? '' : 'none'}>
                      {name ? shortText(draft[name] ?? null, 40) : shortText(table.rows[at]?.[column] ?? '', 40)}
                    </td>
                  )
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {missing.length > 0 && (
        <p class="notice" role="status">
          No column fills {missing.map(({ name }) => labelOf(name).toLowerCase()).join(', ')}, which every row of{' '}
          {plural(noun)} needs.
        </p>
      )}
      <footer class="import-actions">
        <button type="button" aria-busy={props.isBusy} onClick={() => props.onRun(true, drafts)}>
          Check without writing
        </button>
        <button type="button" class="primary" aria-busy={props.isBusy} onClick={() => props.onRun(false, drafts)}>
          Import {numberText(drafts.length)} {drafts.length === 1 ? 'row' : 'rows'}
        </button>
      </footer>
    </>
  )
}

function hasDefault(field: { readonly kind: string }): boolean {
  return (field as { default?: unknown }).default !== undefined
}
