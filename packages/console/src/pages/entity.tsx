import { useState } from 'preact/hooks'
import { may, mayChange } from '../access.ts'
import { ask, Refusal } from '../api.ts'
import type { Version } from '../diff.ts'
import { labelOf, momentText } from '../format.ts'
import { useKeys } from '../keyboard.ts'
import { Act, Dialog, Head, Trouble } from '../parts/basics.tsx'
import { idsOf } from '../parts/field-input.tsx'
import { FieldsForm } from '../parts/form.tsx'
import { RelationGraph } from '../parts/graph.tsx'
import { Remove } from '../parts/grid.tsx'
import { say, sayError } from '../parts/notes.tsx'
import { Timeline } from '../parts/timeline.tsx'
import { State, Value } from '../parts/value.tsx'
import { VerbButtons } from '../parts/verbs.tsx'
import { asOf } from '../place.ts'
import { type Entity, type Json, type Noun, nouns, titleOf, writable } from '../schema.ts'
import { hrefOfList } from '../turned.ts'
import { useAnswer, useCalm } from '../use.ts'

/** One entity: its fields, what it is connected to, and everything that happened to it. */
export function EntityPage({ noun, id }: { noun: Noun; id: string }) {
  const [editing, setEditing] = useState(false)
  const [turn, setTurn] = useState(0)
  const time = useCalm(asOf.value, 150)
  const include = Object.values(noun.fields)
    .filter(({ kind, target }) => (kind === 'forward' || kind === 'back') && may('read', nouns.value.get(target ?? '')))
    .map(({ name }) => name)
    .join(',')
  const found = useAnswer<Entity>(
    (signal) => ask('GET', `/${noun.name}/${id}`, { query: { asOf: time, include }, signal }),
    [noun.name, id, time, include, turn],
  )
  const reload = () => setTurn((number) => number + 1)
  const entity = found.value
  const writes = mayChange(noun)
  const gone = found.error instanceof Refusal && found.error.status === 404
  const past = useAnswer(gone ? () => ask('GET', `/${noun.name}/${id}/history`, { query: { limit: 1 } }) : null, [gone])
  useKeys({
    Escape: () => (location.hash = hrefOfList(noun.name)),
    e: () => writes && entity && setEditing(true),
  })
  const rollback = (version: Version) =>
    ask('POST', `/${noun.name}/${id}/rollback`, { body: { asOf: version.timestamp } }).then(() => {
      say(`Rolled back to version ${version.version}, as a new version.`)
      reload()
    }, sayError)
  const restore = () =>
    ask('POST', `/${noun.name}/${id}/restore`).then(() => {
      say('Restored.')
      reload()
    }, sayError)
  return (
    <>
      <p class="crumbs">
        <a href={hrefOfList(noun.name)}>← {labelOf(noun.path)}</a>
      </p>
      <Head
        title={entity ? titleOf(entity, noun) : past.value ? 'Not there' : past.error ? 'There is no such thing' : '…'}
        about={
          <>
            <code>{id}</code>
            {entity && ` · version ${entity.$version} · created ${momentText(String(entity.$createdAt))}`}
          </>
        }
      >
        {entity && noun.stateField && (
          <State value={String(entity[noun.stateField] ?? '')} values={noun.fields[noun.stateField]?.values ?? []} />
        )}
        {entity && writes && <VerbButtons noun={noun} entity={entity} onDone={reload} />}
        {entity && writes && noun.verbs.update && (
          <button type="button" onClick={() => setEditing(true)}>
            Edit
          </button>
        )}
        {entity && writes && noun.verbs.delete && <Remove noun={noun} entity={entity} onDone={reload} />}
      </Head>
      {gone && (past.value || past.error) && (
        <div class="panel gone">
          <p>
            {time
              ? `There was no such ${labelOf(noun.name).toLowerCase()} at that time.`
              : past.value
                ? `This ${labelOf(noun.name).toLowerCase()} is deleted. What is deleted keeps its past.`
                : `There never was a ${labelOf(noun.name).toLowerCase()} of this id.`}
          </p>
          {writes && noun.verbs.restore && past.value !== null && (
            <Act class="primary" onRun={restore}>
              Restore
            </Act>
          )}
        </div>
      )}
      {!gone && <Trouble error={found.error} />}
      {entity && (
        <div class="entity">
          <Facts noun={noun} entity={entity} />
          <section class="panel relations" aria-labelledby="relations-title">
            <h2 id="relations-title">Relations</h2>
            <RelationGraph noun={noun} entity={entity} />
          </section>
        </div>
      )}
      <Timeline
        type={noun.name}
        id={id}
        turn={turn}
        writes={writes && noun.verbs.rollback !== undefined && !gone}
        onRollback={rollback}
      />
      {editing && entity && (
        <EditDialog noun={noun} entity={entity} onClose={() => setEditing(false)} onSaved={reload} />
      )}
    </>
  )
}

/** The fields that have a value, those of the noun first. */
function Facts({ noun, entity }: { noun: Noun; entity: Entity }) {
  const declared = Object.keys(noun.fields).filter((name) => noun.fields[name]!.kind !== 'back')
  const others = Object.keys(entity).filter(
    (name) => !noun.fields[name] && !name.startsWith('$') && !/^(created|updated)At$/.test(name),
  )
  const names = [...declared, ...others].filter((name) => entity[name] !== undefined && entity[name] !== null)
  return (
    <section class="panel facts" aria-labelledby="facts-title">
      <h2 id="facts-title">Fields</h2>
      <dl>
        {names.map((name) => (
          <div key={name}>
            <dt>{labelOf(name)}</dt>
            <dd>
              <Value value={entity[name]} field={noun.fields[name]} name={name} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

function EditDialog({
  noun,
  entity,
  onClose,
  onSaved,
}: {
  noun: Noun
  entity: Entity
  onClose: () => void
  onSaved: () => void
}) {
  const fields = writable(noun)
  const initial = Object.fromEntries(
    fields.map(({ name, kind, list }) => [
      name,
      kind === 'forward' && !list ? idsOf(entity[name]) : ((entity[name] ?? null) as Json),
    ]),
  )
  return (
    <Dialog title={`Edit ${titleOf(entity, noun)}`} onClose={onClose} wide>
      <FieldsForm
        fields={fields}
        initial={initial}
        submit="Save"
        onCancel={onClose}
        onSubmit={async (changed) => {
          await ask('PUT', `/${noun.name}/${entity.$id}`, {
            body: changed,
            headers: { 'if-match': `"${entity.$version}"` },
          })
          say('Saved.')
          onSaved()
          onClose()
        }}
      />
    </Dialog>
  )
}
