import { may } from '../access.ts'
import { ask } from '../api.ts'
import { labelOf, numberText } from '../format.ts'
import { Head } from '../parts/basics.tsx'
import { asOf, href } from '../place.ts'
import { byDomain, nouns } from '../schema.ts'
import { session } from '../session.ts'
import { useAnswer, useCalm } from '../use.ts'

/** The front page: what the tenant holds, and what happened last. */
export function HomePage() {
  const time = useCalm(asOf.value, 200)
  const types = [...nouns.value.values()].filter((noun) => may('read', noun))
  const counts = useAnswer(
    () =>
      countAll(
        types.map(({ name }) => name),
        time,
      ),
    [time, types.length],
  )
  return (
    <>
      <Head title={`~${session.value?.tenant}`} about={time ? 'As it was then' : 'What this tenant holds'} />
      <div class="home">
        {byDomain(types).map(([domain, group]) => (
          <section key={domain} class="panel domain" aria-label={labelOf(domain)}>
            <h2>{labelOf(domain)}</h2>
            <ul>
              {group.map((noun) => (
                <li key={noun.name}>
                  <a href={href([noun.name])}>
                    <span>{labelOf(noun.path)}</span>
                    <span class={`count${counts.value?.get(noun.name) ? '' : ' zero'}`}>
                      {counts.value && numberText(counts.value.get(noun.name) ?? 0)}
                    </span>
                  </a>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </>
  )
}

/** How many of each there are, in one request. */
async function countAll(types: readonly string[], time: string | null): Promise<ReadonlyMap<string, number>> {
  const operations = types.map((type) => ({
    id: type,
    method: 'GET',
    path: `/${type}/count`,
    query: time === null ? {} : { asOf: time },
  }))
  const { results } = await ask<{ results: { id: string; status: number; body: { count: number } }[] }>(
    'POST',
    '/batch',
    { body: { operations: operations.slice(0, 100) } },
  )
  return new Map(results.filter(({ status }) => status === 200).map(({ id, body }) => [id, body.count]))
}
