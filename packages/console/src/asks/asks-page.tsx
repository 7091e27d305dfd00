import '../../style/pages/asks.css'
import { type Json, parseNoun } from '@tildebase/nouns'
import { useId, useRef, useState } from 'preact/hooks'
import { useDraft } from '../drafts.ts'
import { FieldInput } from '../parts/forms/field-input.tsx'
import { EntityLink } from '../parts/value.tsx'
import { personId } from '../service/access.ts'
import { may } from '../service/rights.ts'
import { nouns } from '../service/schema.ts'
import { request } from '../service/service.ts'
import { t } from '../texts/text.ts'
import { issuesOf, say } from '../toast.ts'
import { Act, Head, Labelled, useFocusOnRefused } from '../ui/basics.tsx'
import { useUnsaid } from '../ui/form-dialog.tsx'
import { EmptyState, Failure, Skeleton } from '../ui/states.tsx'
import { agoText, labelOf, numberText } from '../values/format.ts'
import { isWritable } from '../values/noun.ts'
import { type Ask, useAsks } from './asks.ts'

const MOST = 100

/** The questions of workflows that wait for a person, each with its answer. */
export function AsksPage() {
  const found = useAsks(MOST)
  const asks = found.value?.results ?? []
  return (
    <>
      <Head
        title={t('Questions')}
        about={found.value ? t('{} open', numberText(found.value.total)) : t('What workflows ask people')}
      />
      <Failure error={found.error} onRetry={found.reload} />
      {!found.value && !found.error && <Skeleton rows={4} />}
      {found.value && asks.length === 0 && <EmptyState icon="check" title={t('Nothing waits for an answer')} />}
      {asks.map((ask) => (
        <Question key={ask.id} ask={ask} onAnswered={found.reload} />
      ))}
    </>
  )
}

function Question({ ask, onAnswered }: { ask: Ask; onAnswered: () => void }) {
  const id = useId()
  const kept = useDraft<{ readonly [field: string]: Json }>(
    `ask ${ask.id}`,
    {},
    (draft) => Object.keys(draft).length === 0,
  )
  const [error, setError] = useState<Error | null>(null)
  const noun = ask.fields === null ? null : parseNoun('Ask', ask.fields)
  const fields = Object.values(noun?.fields ?? {}).filter(isWritable)
  const section = useRef<HTMLElement>(null)
  useFocusOnRefused(section, error)
  const unsaid = useUnsaid(section, error)
  const issues = issuesOf(error)
  const answer = (word: 'Approved' | 'Rejected') =>
    kept.save(async () => {
      setError(null)
      try {
        await request('POST', `/asks/${ask.id}/answer`, { body: { answer: word, fields: kept.draft } })
        kept.set({})
        kept.forget()
        say(word === 'Approved' ? t('“{}” approved.', ask.title) : t('“{}” rejected.', ask.title))
        onAnswered()
      } catch (reason) {
        setError(reason as Error)
      }
    })
  return (
    <section class="panel ask" ref={section} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{ask.title}</h2>
      <p class="hint">
        {may('read', nouns.value.get('Workflow')) ? (
          <>
            {t('Asked by')} <EntityLink to={ask.workflow} target="Workflow" />
          </>
        ) : (
          t('Asked')
        )}{' '}
        {agoText(ask.askedAt)}
        {ask.of.startsWith('role:') && t(', of everyone with the role {}', ask.of.slice('role:'.length))}
        {ask.expiresAt && t('. It ends {}', agoText(ask.expiresAt))}.
      </p>
      {personId() === null ? (
        <p class="notice">{t('People answer questions. Sign in as a person to answer this one.')}</p>
      ) : (
        <>
          <div class="form-grid">
            {fields.map((field) => (
              <Labelled
                key={field.name}
                label={labelOf(field.name)}
                for={`${id}-${field.name}`}
                error={issues.find((issue) => issue.field?.endsWith(field.name))?.message}
              >
                <FieldInput
                  id={`${id}-${field.name}`}
                  field={field}
                  value={kept.draft[field.name]}
                  onChange={(value) => kept.set((old) => ({ ...old, [field.name]: value }))}
                />
              </Labelled>
            ))}
          </div>
          <Failure error={unsaid} />
          <footer class="import-actions">
            <Act class="primary" icon="check" onRun={() => answer('Approved')}>
              {t('Approve')}
            </Act>
            <Act class="danger" onRun={() => answer('Rejected')}>
              {t('Reject')}
            </Act>
          </footer>
        </>
      )}
    </section>
  )
}
