import { hasMine, mineFilter } from '../list/look.ts'
import { openFilter } from '../list/open-work.ts'
import { State } from '../parts/value.tsx'
import { href } from '../place.ts'
import { useData } from '../service/cache.ts'
import { may } from '../service/rights.ts'
import { nouns, type Page, titleOf } from '../service/schema.ts'
import { requestAll } from '../service/service.ts'
import { t } from '../texts/text.ts'
import { Failure, Loading } from '../ui/states.tsx'
import type { Entity } from '../values/entity.ts'
import { agoText, labelOf, numberText } from '../values/format.ts'
import { type Noun, wordsOf } from '../values/noun.ts'

const SHOWN = 6
const DUE = ['dueAt', 'dueDate']

interface Work {
  readonly noun: Noun
  readonly total: number
  readonly items: readonly Entity[]
}

/** What belongs to the person who is signed in and is not done: what is due comes first. */
export function MyWork() {
  const types = [...nouns.value.values()].filter((noun) => may('read', noun) && hasMine(noun))
  const found = useData<readonly Work[]>(
    ['my work', types.map(({ name }) => name)],
    types.length === 0 ? null : (signal) => load(types, signal),
    { types: types.map(({ name }) => name) },
  )
  if (types.length === 0) return null
  if (!found.value && !found.error) return <Loading />
  const work = (found.value ?? []).filter(({ total }) => total > 0)
  return (
    <section class="panel" aria-labelledby="mine-title">
      <h2 id="mine-title">{t('My work')}</h2>
      <Failure error={found.error} onRetry={found.reload} />
      {found.value && work.length === 0 && (
        <p class="hint">
          {t('Nothing is assigned to you. Set yourself as the owner or assignee of something to see it here.')}
        </p>
      )}
      {work.map(({ noun, total, items }) => (
        <div key={noun.name} class="mine">
          <h3>
            <a href={href([noun.name], { mine: '1', filter: JSON.stringify(openFilter(noun)) })}>
              {labelOf(noun.path)} <span class="count">{numberText(total)}</span>
            </a>
          </h3>
          <ul class="lines">
            {items.map((entity) => (
              <li key={entity.$id}>
                <a href={href([noun.name, entity.$id])}>{titleOf(entity, noun)}</a>
                <span class="hint">
                  {dueOf(entity) && (
                    <span class={isLate(entity) ? 'late' : ''}>{t('due {}', agoText(dueOf(entity)!))} </span>
                  )}
                  {noun.stateField && entity[noun.stateField] && (
                    <State value={String(entity[noun.stateField])} values={wordsOf(noun.fields[noun.stateField])} />
                  )}
                </span>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </section>
  )
}

async function load(types: readonly Noun[], signal: AbortSignal): Promise<Work[]> {
  const reads = types.flatMap((noun) => {
    const due = DUE.find((name) => noun.fields[name] !== undefined)
    const open = [mineFilter(noun), openFilter(noun)]
    const ask = (id: string, filter: object, sort: string) => ({
      id,
      path: `/${noun.name}`,
      query: { filter, limit: SHOWN, sort },
    })
    // An order by days begins with those that have none, so what has a day is a request of its own.
    return [
      ask(noun.name, { $and: open }, '-$updatedAt'),
      ...(due ? [ask(`${noun.name} due`, { $and: [...open, { [due]: { $ne: null } }] }, due)] : []),
    ]
  })
  const pages = await requestAll<Page>(reads, signal)
  return types.flatMap((noun) => {
    const all = pages.get(noun.name)
    if (all === undefined) return []
    const dated = pages.get(`${noun.name} due`)?.results ?? []
    const items = [...dated, ...all.results.filter((entity) => dueOf(entity) === null)].slice(0, SHOWN)
    return [{ noun, total: all.total, items }]
  })
}

function dueOf(entity: Entity): string | null {
  const value = DUE.map((name) => entity[name]).find((one) => typeof one === 'string')
  return typeof value === 'string' ? value : null
}

function isLate(entity: Entity): boolean {
  return Date.parse(dueOf(entity) ?? '') < Date.now()
}
