import { useData } from '../service/cache.ts'
import { request } from '../service/service.ts'
import { t } from '../texts/text.ts'
import { JsonText } from '../ui/json-text.tsx'
import { Failure } from '../ui/states.tsx'
import { numberText } from '../values/format.ts'
import type { Noun } from '../values/noun.ts'
import { notationOf, type TypeDraft, typeName } from './notation.ts'

interface Effect {
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly { readonly name: string; readonly filled: number }[]
  readonly entities: number
}

/** What saving a type would do: a dry run of the service, and how many entities it concerns; or why it was refused. */
export function Preview({ noun, draft, refusal }: { noun: Noun | null; draft: TypeDraft; refusal: Error | null }) {
  const notation = notationOf(draft)
  const name = typeName(draft.name)
  const isWhole = name !== '' && draft.fields.every(({ name }) => name !== '')
  const effect = useData<Effect>(
    ['schema preview', name, notation],
    isWhole ? (signal) => effectOf(noun, name, notation, signal) : null,
  )
  if (!isWhole) return <Failure error={refusal} />
  const { value } = effect
  return (
    <section class="preview" aria-label={t('Effect')}>
      <h2>{t('Effect')}</h2>
      <Failure error={effect.error ?? refusal} />
      {value && !effect.error && (
        <ul>
          {value.added.map((name) => (
            <li key={name} class="added">
              {t('Adds {}', name)}
            </li>
          ))}
          {value.changed.map((name) => (
            <li key={name}>{t('Changes {}', name)}</li>
          ))}
          {value.removed.map(({ name, filled }) => (
            <li key={name} class="removed">
              {t(
                'Removes {}{}',
                name,
                filled > 0 ? t(': {} stored values no longer belong to a field', numberText(filled)) : '',
              )}
            </li>
          ))}
          {value.added.length + value.changed.length + value.removed.length === 0 && <li>{t('No changes')}</li>}
          {value.entities > 0 && (
            <li class="hint">
              {value.entities === 1
                ? t('1 entry of this type exists.')
                : t('{} entries of this type exist.', numberText(value.entities))}
            </li>
          )}
        </ul>
      )}
      <details>
        <summary>{t('As code')}</summary>
        <JsonText value={notation} label={t('Notation')} />
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
    // What every type has needs no line.
    added: Object.keys(after).filter((key) => !(key in before) && (noun !== null || key in notation)),
    changed: Object.keys(after).filter(
      (key) => key in before && JSON.stringify(before[key]) !== JSON.stringify(after[key]),
    ),
    removed,
    entities,
  }
}
