import '../../style/pages/charts.css'
import { saveFile } from '../list/export/save-file.ts'
import { Scroll } from '../ui/basics.tsx'
import { Icon } from '../ui/icon.tsx'
import { numberText } from '../values/format.ts'
import type { Outcome } from './job.ts'

const SHOWN = 100

/** What became of a file: how many rows were taken, and what is wrong with the others. */
export function ImportOutcome({ outcome }: { outcome: Outcome }) {
  const details = outcome.details.map(({ row, line, error }) => ({ row: row + 1, line, error }))
  const download = () =>
    saveFile(
      new Blob([JSON.stringify(details, null, 2)], { type: 'application/json' }),
      `${outcome.file}.rejected.json`,
    )
  return (
    <section class="panel" role="status">
      <h2>{outcome.wasDry ? `${outcome.file}, checked` : outcome.file}</h2>
      <dl class="numbers">
        <div>
          <dt>{outcome.wasDry ? 'Would be imported' : 'Imported'}</dt>
          <dd>{numberText(outcome.imported)}</dd>
        </div>
        <div>
          <dt>Rejected</dt>
          <dd>{numberText(outcome.errors)}</dd>
        </div>
      </dl>
      {!outcome.success && (
        <p class="failure">
          {outcome.isCancelled ? 'You cancelled the import.' : 'The file was not read to its end.'}
          {outcome.unknown > 0 &&
            ` The server did not answer for the last ${numberText(outcome.unknown)} rows: they may be imported.`}
        </p>
      )}
      {outcome.warnings && outcome.warnings.length > 0 && (
        <div class="notice">
          <p>
            {outcome.wasDry ? 'No type declares these fields:' : 'These fields are stored, but no type declares them:'}
          </p>
          <ul aria-label="Unknown fields">
            {outcome.warnings.map(({ field, nearest }) => (
              <li key={field}>
                <code>{field}</code>
                {nearest !== null && (
                  <>
                    {' '}
                    — did you mean <code>{nearest}</code>?
                  </>
                )}
              </li>
            ))}
          </ul>
        </div>
      )}
      {details.length > 0 && (
        <>
          <Scroll label="Rejected rows">
            <table class="grid">
              <thead>
                <tr>
                  <th scope="col">Row</th>
                  <th scope="col">Line</th>
                  <th scope="col">What is wrong</th>
                </tr>
              </thead>
              <tbody>
                {details.slice(0, SHOWN).map((detail) => (
                  <tr key={`${detail.row} ${detail.error}`}>
                    <td>{numberText(detail.row)}</td>
                    <td>{detail.line === undefined ? '—' : numberText(detail.line)}</td>
                    <td class="wrap">{detail.error}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
          <button type="button" onClick={download}>
            <Icon name="download" /> Download all {numberText(details.length)}
          </button>
        </>
      )}
    </section>
  )
}
