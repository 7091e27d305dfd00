import { State } from '../parts/value.tsx'
import { asOf, href } from '../place.ts'
import { useData, useSettled } from '../service/cache.ts'
import { request } from '../service/service.ts'
import { t } from '../texts/text.ts'
import { Head } from '../ui/basics.tsx'
import { Failure, Skeleton } from '../ui/states.tsx'
import { actorName } from '../values/actors.ts'
import { momentText } from '../values/format.ts'
import type { Reviewed } from './changeset.ts'
import { Talk } from './talk.tsx'

/** A changeset as it was at the time shown: its state and its comments. Its operations are tried on the present only. */
export function PastChangeset({ id }: { id: string }) {
  const time = useSettled(asOf.value, 150)
  const found = useData<Omit<Reviewed, 'operations' | 'diff' | 'conflicts' | 'messages'>>(
    ['changeset', id, time],
    (signal) => request('GET', `/changesets/${id}`, { query: { asOf: time }, signal }),
  )
  const changeset = found.value
  if (!changeset) return found.error ? <Failure error={found.error} onRetry={found.reload} /> : <Skeleton rows={4} />
  return (
    <>
      <Head
        title={changeset.title}
        about={
          <>
            <State value={changeset.state} />{' '}
            {t('proposed by {} on {}', actorName(changeset.author), momentText(changeset.$createdAt))}
          </>
        }
      >
        <a class="button" href={href(['changesets'])}>
          {t('All proposals')}
        </a>
      </Head>
      {changeset.reason && <p class="changeset-reason">{changeset.reason}</p>}
      <p class="notice" role="status">
        {t('A review compares a proposal with the present. Go back to now to see what it changes.')}
      </p>
      <Talk id={id} comments={changeset.comments ?? []} canWrite={false} />
    </>
  )
}
