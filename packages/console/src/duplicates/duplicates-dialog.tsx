import '../../style/pages/changes.css'
import type { Json } from '@tildebase/nouns'
import { useState } from 'preact/hooks'
import { everyOne } from '../list/bulk.ts'
import { Value } from '../parts/value.tsx'
import { useData } from '../service/cache.ts'
import { titleOf } from '../service/schema.ts'
import { request } from '../service/service.ts'
import { newCorrelation, sayDone, write } from '../service/write.ts'
import { t } from '../texts/text.ts'
import { sayError } from '../toast.ts'
import { Act } from '../ui/basics.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Failure, Skeleton } from '../ui/states.tsx'
import type { Entity } from '../values/entity.ts'
import { inSentence, labelOf, momentText, numberText } from '../values/format.ts'
import { isEditable, type Noun, plural } from '../values/noun.ts'
import { type Group, groupsOf } from './groups.ts'

/** Entities that are probably the same: shown side by side, and merged field by field. */
export function DuplicatesDialog({ noun, onClose }: { noun: Noun; onClose: () => void }) {
  const found = useData<Group[]>(
    ['duplicates', noun.name],
    async () => {
      const { count } = await request<{ count: number }>('GET', `/${noun.name}/count`)
      return groupsOf(noun, await everyOne(noun, {}, count))
    },
    { types: [noun.name] },
  )
  const [skipped, setSkipped] = useState<ReadonlySet<string>>(new Set())
  const keyOf = ({ entities }: Group) => entities.map(({ $id }) => $id).join()
  const groups = (found.value ?? []).filter((group) => !skipped.has(keyOf(group)))
  return (
    <Dialog title={t('Duplicates among {}', plural(noun))} size="wide" onClose={onClose}>
      <Failure error={found.error} onRetry={found.reload} />
      {!found.value && !found.error && <Skeleton rows={4} />}
      {found.value && (
        <p role="status">
          {groups.length === 0
            ? t('No two {} share an address, a number or a name.', plural(noun))
            : t(
                '{} {} probably the same.',
                numberText(groups.length),
                groups.length === 1 ? t('group is') : t('groups are'),
              )}
        </p>
      )}
      {groups[0] && (
        <Merge
          key={keyOf(groups[0])}
          noun={noun}
          group={groups[0]}
          onSkip={() => setSkipped(new Set([...skipped, keyOf(groups[0]!)]))}
          onMerged={found.reload}
        />
      )}
    </Dialog>
  )
}

/** Decides, field by field, what remains of several entities. */
function Merge(props: { noun: Noun; group: Group; onSkip: () => void; onMerged: () => void }) {
  const { noun, group } = props
  // The oldest remains: it has the longest history.
  const all = [...group.entities].sort((a, b) => String(a.$createdAt).localeCompare(String(b.$createdAt)))
  const [kept, setKept] = useState(all[0]!.$id)
  const remains = all.find(({ $id }) => $id === kept)!
  const names = Object.values(noun.fields)
    .filter((field) => isEditable(noun, field))
    .map(({ name }) => name)
    .filter((name) => new Set(all.map((one) => JSON.stringify(one[name] ?? null))).size > 1)
  const [picked, setPicked] = useState<{ readonly [field: string]: string }>({})
  const sourceOf = (name: string): Entity => {
    const chosen = all.find(({ $id }) => $id === picked[name])
    // What the one that remains lacks, another has.
    return chosen ?? (isThere(remains[name]) ? remains : (all.find((one) => isThere(one[name])) ?? remains))
  }
  const merge = async () => {
    const correlation = newCorrelation()
    const body = Object.fromEntries(
      names.filter((name) => sourceOf(name) !== remains).map((name) => [name, sourceOf(name)[name] ?? null]),
    )
    try {
      for (const other of all.filter((one) => one !== remains)) {
        const path = `/${noun.name}/${other.$id}/merge`
        await write({ path, body: { into: kept }, version: other.$version, type: noun.name }, correlation)
      }
      if (Object.keys(body).length > 0)
        await write({ method: 'PUT', path: `/${noun.name}/${kept}`, body, type: noun.name }, correlation)
      sayDone(t('{} became {}.', numberText(all.length), titleOf(remains, noun)), correlation)
      props.onMerged()
    } catch (reason) {
      sayError(reason)
    }
  }
  return (
    <section aria-label={titleOf(remains, noun)}>
      <p class="hint">
        {t(
          'The same {}. Choose what remains; the others become a part of it, with all that belongs to them.',
          inSentence(group.field),
        )}
      </p>
      <fieldset class="conflicts">
        <legend>{t('What remains')}</legend>
        {all.map((one) => (
          <label key={one.$id} class={one === remains ? 'chosen' : ''}>
            <input type="radio" name="remains" checked={one === remains} onChange={() => setKept(one.$id)} />
            <span class="whose">{titleOf(one, noun)}</span> {t('created {}', momentText(String(one.$createdAt)))}
          </label>
        ))}
      </fieldset>
      {names.map((name) => (
        <fieldset class="conflicts" key={name}>
          <legend>{labelOf(name)}</legend>
          {distinct(all, name).map((one) => (
            <label key={one.$id} class={same(sourceOf(name)[name], one[name]) ? 'chosen' : ''}>
              <input
                type="radio"
                name={`merge-${name}`}
                checked={same(sourceOf(name)[name], one[name])}
                onChange={() => setPicked({ ...picked, [name]: one.$id })}
              />
              <Value value={one[name]} field={noun.fields[name]} name={name} entity={one} />
            </label>
          ))}
        </fieldset>
      ))}
      <footer>
        <Act class="primary" onRun={merge}>
          {t('Merge')}
        </Act>
        <button type="button" onClick={props.onSkip}>
          {t('Not the same')}
        </button>
      </footer>
    </section>
  )
}

function isThere(value: Json | undefined): boolean {
  return value !== null && value !== undefined && value !== ''
}

function same(a: Json | undefined, b: Json | undefined): boolean {
  return JSON.stringify(a ?? null) === JSON.stringify(b ?? null)
}

/** One entity for each value of a field. */
function distinct(all: readonly Entity[], name: string): Entity[] {
  return all.filter((one, at) => all.findIndex((other) => same(other[name], one[name])) === at)
}
