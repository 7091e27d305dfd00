import { Changes } from '../parts/changes.tsx'
import { useData } from '../service/cache.ts'
import { request, statusOf } from '../service/service.ts'
import { t } from '../texts/text.ts'
import { Failure } from '../ui/states.tsx'
import type { Entity } from '../values/entity.ts'
import { momentText } from '../values/format.ts'
import { type Noun, singular } from '../values/noun.ts'
import { fieldChanges } from './differences.ts'

/** What became of an entity between the time that the page shows and now. */
export function EntityChanges({ noun, id, time }: { noun: Noun; id: string; time: string }) {
  const path = `/${noun.name}/${id}`
  const then = useData<Entity>(['entity then', id, time], (signal) =>
    request('GET', path, { query: { asOf: time }, signal }),
  )
  const now = useData<Entity>(['entity now', id], (signal) => request('GET', path, { signal }), { types: [noun.name] })
  const isGone = statusOf(now.error) === 404
  const changes = then.value && now.value ? fieldChanges(then.value, now.value) : null
  return (
    <section class="panel differences" aria-labelledby="differences-title">
      <h2 id="differences-title">{t('From {} until now', momentText(time))}</h2>
      {!isGone && <Failure error={then.error ?? now.error} />}
      {isGone && <p>{t('This {} was deleted since.', singular(noun))}</p>}
      {changes &&
        (changes.length === 0 ? <p>{t('Nothing changed.')}</p> : <Changes changes={changes} type={noun.name} />)}
    </section>
  )
}
