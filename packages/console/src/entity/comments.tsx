import { useId, useState } from 'preact/hooks'
import { useDraft } from '../drafts.ts'
import { asOf } from '../place.ts'
import { mayChange } from '../service/access.ts'
import { useData } from '../service/cache.ts'
import { PAGE, pagesOf } from '../service/pages.ts'
import { may } from '../service/rights.ts'
import { nouns, type Page } from '../service/schema.ts'
import { sayDone, write } from '../service/write.ts'
import { t } from '../texts/text.ts'
import { sayError } from '../toast.ts'
import { Act } from '../ui/basics.tsx'
import { Icon } from '../ui/icon.tsx'
import { Failure, Loading } from '../ui/states.tsx'
import { actorName } from '../values/actors.ts'
import type { Entity } from '../values/entity.ts'
import { agoText } from '../values/format.ts'

const TYPE = 'Comment'
const WITHOUT = new Set([TYPE, 'View', 'Dashboard', 'ApiKey', 'Event'])

/** Notes that people leave on an entity: Comments that name it in `about`. */
export function Comments({ entity }: { entity: Entity }) {
  const noun = nouns.value.get(TYPE)
  const id = useId()
  const kept = useDraft(`note ${entity.$id}`, '', (note) => note.trim() === '')
  const text = kept.draft
  const isIssue = entity.$type === 'Issue'
  const filter = isIssue ? { $or: [{ about: entity.$id }, { issue: entity.$id }] } : { about: entity.$id }
  // The rights on an entity are rights on the notes about it. A key that only reads is offered nothing to write.
  const about = nouns.value.get(entity.$type)
  const isThere = !WITHOUT.has(entity.$type) && (may('read', noun) || may('read', about))
  const [pages, setPages] = useState(1)
  const query = { filter, sort: '-$createdAt', asOf: asOf.value ?? undefined }
  const found = useData<readonly Page['results'][]>(
    ['comments', entity.$id, asOf.value, pages],
    isThere ? (signal) => firstPages(pages, pagesOf(TYPE, query, signal)) : null,
    { types: asOf.value === null ? [TYPE] : [] },
  )
  if (!isThere) return null
  const add = () =>
    kept.save(async () => {
      const body = { body: text.trim(), about: entity.$id, ...(isIssue && { issue: entity.$id }) }
      if (body.body === '') return
      try {
        const { correlation } = await write({ path: `/${TYPE}`, body, type: TYPE })
        kept.set('')
        kept.forget()
        sayDone(t('Note added.'), correlation)
      } catch (reason) {
        sayError(reason)
      }
    })
  const remove = (comment: Entity) =>
    write({ method: 'DELETE', path: `/${TYPE}/${comment.$id}`, version: comment.$version, type: TYPE }).then(
      ({ correlation }) => sayDone(t('Note deleted.'), correlation),
      sayError,
    )
  const notes = (found.value ?? []).flat()
  const hasMore = found.value?.length === pages && found.value.at(-1)?.length === PAGE
  const writes = mayChange(noun) || mayChange(about)
  if (!found.value && !found.error) return <Loading />
  if (notes.length === 0 && !writes) return null
  return (
    <section class="panel comments" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{t('Notes')}</h2>
      <Failure error={found.error} onRetry={found.reload} />
      {writes && (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            void add()
          }}
        >
          <textarea
            aria-label={t('New note')}
            rows={2}
            placeholder={t('Leave a note')}
            value={text}
            onInput={(event) => kept.set(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
              event.preventDefault()
              void add()
            }}
          />
          <button type="submit" class="primary" disabled={text.trim() === ''}>
            {t('Add note')}
          </button>
        </form>
      )}
      <ol>
        {notes.map((note) => (
          <li key={note.$id}>
            <div class="note-head">
              <b>{actorName(String(note.$createdBy))}</b>
              <time dateTime={String(note.$createdAt)}>{agoText(String(note.$createdAt))}</time>
              {writes && (
                <Act class="quiet icon-only" title={t('Delete this note')} onRun={() => remove(note)}>
                  <Icon name="bin" />
                  <span class="unseen">{t('Delete this note')}</span>
                </Act>
              )}
            </div>
            <p>{String(note.body)}</p>
          </li>
        ))}
      </ol>
      {hasMore && (
        <button type="button" class="quiet" onClick={() => setPages(pages + 1)}>
          {t('Earlier notes')}
        </button>
      )}
    </section>
  )
}

/** So many of the pages, or all if there are fewer. */
async function firstPages<T>(count: number, pages: AsyncIterable<T>): Promise<T[]> {
  const first: T[] = []
  for await (const page of pages) {
    first.push(page)
    if (first.length === count) break
  }
  return first
}
