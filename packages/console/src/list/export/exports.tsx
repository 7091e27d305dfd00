import '../../../style/pages/home.css'
import { TaskLine } from '../../parts/frame/task-line.tsx'
import { t } from '../../texts/text.ts'
import { sentenceOf } from '../../toast.ts'
import { Icon } from '../../ui/icon.tsx'
import { bytesText, numberText } from '../../values/format.ts'
import { type ExportJob, exportJobs } from './export-jobs.ts'

/** The exports that run, on every page, with a way to end them; and those that failed, with a way to repeat them. */
export function Exports() {
  return (
    <section class="exports" aria-label={t('Exports')}>
      <ul class="lines">
        {exportJobs.value.map((job) =>
          job.failure ? <Failed key={job.id} {...job} /> : <Running key={job.id} {...job} />,
        )}
      </ul>
    </section>
  )
}

function Running({ file, unit, done, total, cancel }: ExportJob) {
  const text = unit === 'bytes' ? bytesText : numberText
  // Texts may have lines of their own, so that more lines than rows come.
  const read = total === null ? done : Math.min(done, total)
  const amount = `${text(read)}${total === null ? '' : ` of ${text(total)}`}${unit === 'rows' ? ' rows' : ''}`
  return (
    <TaskLine name={t('Progress of {}', file)} text={t('Export of {}', file)} hint={amount} done={read} of={total}>
      <button type="button" onClick={cancel}>
        {t('Cancel')}
        <span class="unseen"> {t('the export of {}', file)}</span>
      </button>
    </TaskLine>
  )
}

function Failed({ file, failure, cancel, retry }: ExportJob) {
  return (
    <li class="task failed" role="alert">
      <span>{t('The export of {} failed, and no file was saved. {}', file, sentenceOf(failure))}</span>
      <button type="button" onClick={retry}>
        {t('Try again')}
      </button>
      <button type="button" class="quiet icon-only" aria-label={t('Dismiss the export of {}', file)} onClick={cancel}>
        <Icon name="close" />
      </button>
    </li>
  )
}
