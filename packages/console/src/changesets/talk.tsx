import '../../style/pages/entity.css'
import { useId } from 'preact/hooks'
import { useDraft } from '../drafts.ts'
import { write } from '../service/write.ts'
import { t } from '../texts/text.ts'
import { sayError } from '../toast.ts'
import { Act } from '../ui/basics.tsx'
import { actorName } from '../values/actors.ts'
import { agoText } from '../values/format.ts'
import type { Reviewed } from './changeset.ts'

/** What people say about a changeset. */
export function Talk(props: { id: string; comments: Reviewed['comments'] & object; canWrite: boolean }) {
  const { comments, canWrite } = props
  const id = useId()
  const kept = useDraft(`comment ${props.id}`, '', (comment) => comment.trim() === '')
  const text = kept.draft
  const add = () =>
    kept.save(async () => {
      try {
        await write({ path: `/changesets/${props.id}/comment`, body: { text: text.trim() }, type: 'Changeset' })
        kept.set('')
        kept.forget()
      } catch (reason) {
        sayError(reason)
      }
    })
  return (
    <section class="panel comments" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{t('Comments')}</h2>
      <ol class="talk">
        {comments.map(({ by, at, text: said }, index) => (
          <li key={index}>
            <strong>{actorName(by)}</strong> <time dateTime={at}>{agoText(at)}</time>
            <p>{said}</p>
          </li>
        ))}
      </ol>
      {canWrite && (
        <div class="add-comment">
          <label class="unseen" for={`${id}-text`}>
            {t('Comment')}
          </label>
          <textarea
            id={`${id}-text`}
            class="changeset-comment"
            rows={3}
            value={text}
            placeholder={t('Ask or explain')}
            onInput={(event) => kept.set(event.currentTarget.value)}
          />
          <Act onRun={add} disabled={text.trim() === ''}>
            {t('Comment')}
          </Act>
        </div>
      )}
    </section>
  )
}
