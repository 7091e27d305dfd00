import '../../style/pages/changes.css'
import type { Question } from '../list/question.ts'
import { Changes } from '../parts/changes.tsx'
import { href } from '../place.ts'
import { useData } from '../service/cache.ts'
import { titleOf } from '../service/schema.ts'
import { t } from '../texts/text.ts'
import { Failure, Skeleton } from '../ui/states.tsx'
import { momentText, numberText } from '../values/format.ts'
import { plural } from '../values/noun.ts'
import { type Difference, type Differences, differencesOf } from './differences.ts'

const HEADS: { readonly [kind in Difference['kind']]: string } = {
  new: t('New'),
  changed: t('Changed'),
  gone: t('Gone'),
}

/** What became of a list between the time that the page shows and now. */
export function ListChanges({ question, time }: { question: Question; time: string }) {
  const { noun, filter } = question
  const found = useData<Differences>(
    ['differences', noun.name, filter, time],
    (signal) => differencesOf(question, time, signal),
    { types: [noun.name] },
  )
  const all = found.value?.all ?? []
  const of = (kind: Difference['kind']) => all.filter((one) => one.kind === kind)
  return (
    <section class="panel differences" aria-labelledby="differences-title">
      <h2 id="differences-title">{t('From {} until now', momentText(time))}</h2>
      <Failure error={found.error} onRetry={found.reload} />
      {!found.value && !found.error && <Skeleton rows={3} />}
      {found.value && (
        <p role="status">
          {all.length === 0
            ? t('No {} of this list changed.', plural(noun))
            : (['new', 'changed', 'gone'] as const)
                .map((kind) => `${numberText(of(kind).length)} ${HEADS[kind].toLowerCase()}`)
                .join(', ')}
          {found.value.hasMore && ` ${t('among the {} with the most changes', numberText(all.length))}`}
        </p>
      )}
      {(['new', 'changed', 'gone'] as const)
        .filter((kind) => of(kind).length > 0)
        .map((kind) => (
          <div key={kind}>
            <h3>{HEADS[kind]}</h3>
            <ul class="lines">
              {of(kind).map(({ entity, changes }) => (
                <li key={entity.$id}>
                  <a href={href([noun.name, entity.$id], kind === 'gone' ? {} : { asOf: null })}>
                    {titleOf(entity, noun)}
                  </a>
                  <Changes changes={changes} type={noun.name} />
                </li>
              ))}
            </ul>
          </div>
        ))}
    </section>
  )
}
