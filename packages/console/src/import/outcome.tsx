import '../../style/pages/charts.css'
import { saveFile } from '../list/export/save-file.ts'
import { href } from '../place.ts'
import { nouns } from '../service/schema.ts'
import { undo } from '../service/write.ts'
import { t } from '../texts/text.ts'
import { Act, Scroll } from '../ui/basics.tsx'
import { Icon } from '../ui/icon.tsx'
import { numberText } from '../values/format.ts'
import { plural } from '../values/noun.ts'
import type { Outcome, Rejected } from './job.ts'
import { rejectedFile } from './rejected-file.ts'

const SHOWN = 100
const EXAMPLES = 5

/** What became of a file: how many rows were taken, and what is wrong with the others. */
export function ImportOutcome({ outcome }: { outcome: Outcome }) {
  const noun = nouns.value.get(outcome.type)
  const { details, wasDry, correlation } = outcome
  // A row with two faults is in two groups.
  const faults = details.flatMap((one) => one.error.split('; ').map((error) => ({ ...one, error })))
  const groups = [...Map.groupBy(faults, ({ error }) => error)].sort(([, a], [, b]) => b.length - a.length)
  return (
    <section class="panel" role="status">
      <h2>{wasDry ? t('{}, checked', outcome.file) : outcome.file}</h2>
      <dl class="numbers">
        <div>
          <dt>{wasDry ? t('Would be imported') : t('Imported')}</dt>
          <dd>{numberText(outcome.imported)}</dd>
        </div>
        <div>
          <dt>{t('Rejected')}</dt>
          <dd>{numberText(outcome.errors)}</dd>
        </div>
      </dl>
      {outcome.created > 0 && (
        <p>{t('{} entries were created because rows name them.', numberText(outcome.created))}</p>
      )}
      {!outcome.success && (
        <p class="failure">
          {outcome.isCancelled ? t('You cancelled the import.') : t('The file was not read to its end.')}
          {outcome.unknown > 0 &&
            ` ${t('The server did not answer for the last {} rows: they may be imported.', numberText(outcome.unknown))}`}
        </p>
      )}
      {correlation !== null && outcome.imported > 0 && (
        <div class="buttons">
          {noun && (
            <a class="button" href={href([noun.name], { sort: '-$createdAt' })}>
              {t('Show the imported {}', plural(noun))}
            </a>
          )}
          <Act icon="undo" onRun={() => undo(correlation)}>
            {t('Undo this import')}
          </Act>
        </div>
      )}
      {outcome.warnings && outcome.warnings.length > 0 && (
        <div class="notice">
          <p>
            {wasDry ? t('No type declares these fields:') : t('These fields are stored, but no type declares them:')}
          </p>
          <ul aria-label={t('Unknown fields')}>
            {outcome.warnings.map(({ field, nearest }) => (
              <li key={field}>
                <code>{field}</code>
                {nearest !== null && (
                  <>
                    {' '}
                    {t('— did you mean')} <code>{nearest}</code>?
                  </>
                )}
              </li>
            ))}
          </ul>
        </div>
      )}
      {details.length > 0 && (
        <>
          <Scroll label={t('Rejected rows')}>
            <table class="grid">
              <thead>
                <tr>
                  <th scope="col">{t('Count')}</th>
                  <th scope="col">{t('What is wrong')}</th>
                  <th scope="col">{t('Lines')}</th>
                </tr>
              </thead>
              <tbody>
                {groups.slice(0, SHOWN).map(([error, rows]) => (
                  <tr key={error}>
                    <td>{numberText(rows.length)}</td>
                    <td class="wrap">{error}</td>
                    <td>{placesOf(rows)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
          <button type="button" onClick={() => saveFile(...rejectedFile(outcome))}>
            <Icon name="download" />{' '}
            {t('Download the {} rejected {}', numberText(details.length), details.length === 1 ? t('row') : t('rows'))}
          </button>
        </>
      )}
    </section>
  )
}

/** The lines of some rows: `2, 7, 9 …`. Files without lines count rows. */
function placesOf(rows: readonly Rejected[]): string {
  const places = rows.slice(0, EXAMPLES).map(({ row, line }) => numberText(line ?? row + 1))
  return places.join(', ') + (rows.length > EXAMPLES ? ' …' : '')
}
