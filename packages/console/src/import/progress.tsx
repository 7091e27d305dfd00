import { t } from '../texts/text.ts'
import { numberText } from '../values/format.ts'
import { type ImportJob, stopImport } from './job.ts'

/** How far an import is, with a way to end it. */
export function ImportProgress({ job }: { job: ImportJob }) {
  const { file, done, total, isDry, isLost, isStopping } = job
  return (
    <div class="import-progress">
      <progress aria-label={isDry ? t('Sent') : t('Imported')} max={total} value={done} />
      <span role="status">
        {isStopping
          ? t('Ending after the rows that are on their way…')
          : isLost
            ? t('The server does not answer. The import continues when it does; no row is imported twice.')
            : t('{}: {} of {} rows', file, numberText(done), numberText(total))}
      </span>
      <button type="button" onClick={stopImport} disabled={isStopping}>
        {t('Cancel the import')}
      </button>
    </div>
  )
}
