import { useData } from '../service/cache.ts'
import { request } from '../service/service.ts'
import { JsonText } from '../ui/basics.tsx'
import { Failure } from '../ui/states.tsx'
import { numberText } from '../values/format.ts'
import type { Noun } from '../values/noun.ts'
import { notationOf, type TypeDraft } from './notation.ts'

interface Effect {
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly { readonly name: string; readonly filled: number }[]
  readonly entities: number
}

/** What saving a type would do: a dry run of the service, and how many entities it concerns. */
export function Preview({ noun, draft }: { noun: Noun | null; draft: TypeDraft }) {
  const notation = notationOf(draft)
  const isWhole = /^[A-Z][A-Za-z0-9]*$/.test(draft.name) && draft.fields.every(({ name }) => name !== '')
  const effect = useData<Effect>(
    ['schema preview', draft.name, notation],
    isWhole ? (signal) => effectOf(noun, draft.name, notation, signal) : null,
  )
  if (!isWhole) return null
  const { value } = effect
  return (
    <section class="preview" aria-label="Effect">
      <h2>Effect</h2>
      <Failure error={effect.error} />
      {value && !effect.error && (
        <ul>
          {value.added.map((name) => (
            <li key={name} class="added">
              Adds {name}
            </li>
          ))}
          {value.changed.map((name) => (
            <li key={name}>Changes {name}</li>
          ))}
          {value.removed.map(({ name, filled }) => (
            <li key={name} class="removed">
              Removes {name}
              {filled > 0 ? `: ${numberText(filled)} stored values are no longer declared` : ''}
            </li>
          ))}
          {value.added.length + value.changed.length + value.removed.length === 0 && <li>Changes nothing</li>}
          {value.entities > 0 && (
            <li class="hint">
              {value.entities === 1
                ? '1 entity of this type exists.'
                : `${numberText(value.entities)} entities of this type exist.`}
            </li>
          )}
        </ul>
      )}
      <details>
        <summary>As notation</summary>
        <JsonText value={notation} label="Notation" />
      </details>
    </section>
  )
}

async function effectOf(noun: Noun | null, name: string, notation: object, signal: AbortSignal): Promise<Effect> {
  const { result } = await request<{ result: Noun }>('PUT', `/schema/${name}`, {
    query: { dryRun: 'true' },
    body: notation,
    signal,
  })
  const before = { ...noun?.fields, ...noun?.verbs } as { [name: string]: unknown }
  const after = { ...result.fields, ...result.verbs } as { [name: string]: unknown }
  const gone = Object.keys(before).filter((key) => !(key in after))
  const count = (filter?: object) =>
    request<{ count: number }>('GET', `/${name}/count`, { query: { filter }, signal }).then((answer) => answer.count)
  const entities = noun ? await count() : 0
  const removed = await Promise.all(
    gone.map(async (key) => ({
      name: key,
      filled: key in (noun?.fields ?? {}) ? await count({ [key]: { $exists: true } }) : 0,
    })),
  )
  return {
    added: Object.keys(after).filter((key) => noun && !(key in before)),
    changed: Object.keys(after).filter(
      (key) => key in before && JSON.stringify(before[key]) !== JSON.stringify(after[key]),
    ),
    removed,
    entities,
  }
}
