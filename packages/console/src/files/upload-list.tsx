import { bytesText } from '../values/format.ts'
import '../../style/pages/home.css'
import { TaskLine } from '../parts/frame/task-line.tsx'
import { t } from '../texts/text.ts'
import { sentenceOf } from '../toast.ts'
import { type Upload, uploads } from './state.ts'

const WORDS = { waiting: 'waits', sending: '', paused: 'paused', failed: 'failed' } as const

/** The files that are being sent, on every page, with ways to pause, continue and end each. */
export function UploadList() {
  return (
    <section class="exports" aria-label={t('Uploads')}>
      <ul class="lines">
        {uploads.value.map((upload) => (
          <Line key={upload.id} {...upload} />
        ))}
      </ul>
    </section>
  )
}

function Line({ name, title, sent, size, state, failure, pause, resume, cancel }: Upload) {
  const amount = `${bytesText(sent)} of ${bytesText(size)}`
  const isStopped = state === 'paused' || state === 'failed'
  return (
    <TaskLine
      name={t('Progress of {}', name)}
      text={
        <>
          {t('{} for {}', name, title)}
          {failure && <span role="alert"> {t('could not be sent. {}', sentenceOf(failure))}</span>}
        </>
      }
      hint={[WORDS[state], amount].filter(Boolean).join(' · ')}
      done={sent}
      of={state === 'sending' && sent === 0 ? null : size}
    >
      <span class="upload-actions">
        <button type="button" onClick={isStopped ? resume : pause}>
          {isStopped ? t('Resume') : t('Pause')}
          <span class="unseen"> {name}</span>
        </button>
        <button type="button" onClick={cancel}>
          {t('Cancel')}
          <span class="unseen"> {name}</span>
        </button>
      </span>
    </TaskLine>
  )
}
