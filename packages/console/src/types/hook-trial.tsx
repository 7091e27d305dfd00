import type { Json, JsonObject } from '@tildebase/nouns'
import { isPlainObject } from '@tildebase/nouns'
import { useId, useState } from 'preact/hooks'
import { WrittenEvents } from '../events/written-events.tsx'
import { Changes } from '../parts/changes.tsx'
import { RelationPicker } from '../parts/forms/relation-picker.tsx'
import { titleOf } from '../service/schema.ts'
import { request } from '../service/service.ts'
import { t } from '../texts/text.ts'
import { Act, Labelled } from '../ui/basics.tsx'
import { JsonText } from '../ui/json-text.tsx'
import { Failure } from '../ui/states.tsx'
import { type Noun, singular } from '../values/noun.ts'

interface Outcome {
  readonly entity: JsonObject | null
  readonly returned: Json
  readonly events: readonly JsonObject[]
}

/** Runs the code of a hook on an entity without a trace, and shows what it would change and write. */
export function HookTrial({ noun, code, isBefore }: { noun: Noun; code: string; isBefore: boolean }) {
  const id = useId()
  const [subject, setSubject] = useState<Json>(null)
  const [outcome, setOutcome] = useState<Outcome | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const tryOut = () => {
    const found = subject === null ? 'findOne({})' : `get(${JSON.stringify(subject)})`
    const steps = [
      `const hook = (${code}\n)`,
      `const entity = await $.${noun.name}.${found}`,
      'return { entity, returned: (await hook(entity ?? {}, $, {})) ?? null }',
    ]
    return request<{ result: Omit<Outcome, 'events'>; events?: readonly JsonObject[] }>('POST', '/do', {
      body: { dryRun: true, code: steps.join('\n') },
    }).then(
      ({ result, events = [] }) => {
        setError(null)
        setOutcome({ ...result, events })
      },
      (reason) => {
        setOutcome(null)
        setError(reason)
      },
    )
  }
  return (
    <section class="preview" aria-label={t('Effect of the hook')}>
      <h3>{t('Effect')}</h3>
      <Labelled label={t('Try it on')} for={`${id}-subject`} hint={t('The newest {} when empty', singular(noun))}>
        <RelationPicker
          id={`${id}-subject`}
          targets={[noun.name]}
          value={subject}
          required={false}
          many={false}
          onChange={setSubject}
        />
      </Labelled>
      <Act onRun={tryOut}>{t('Try it without a trace')}</Act>
      <Failure error={error} />
      {outcome && <Shown noun={noun} isBefore={isBefore} outcome={outcome} />}
    </section>
  )
}

function Shown({ noun, isBefore, outcome }: { noun: Noun; isBefore: boolean; outcome: Outcome }) {
  const { entity, returned, events } = outcome
  const on = entity === null ? t('an empty {}: there is none yet', singular(noun)) : titleOf(entity, noun)
  const changes =
    isBefore && isPlainObject(returned)
      ? Object.entries(returned).map(([field, after]) => ({ field, before: entity?.[field] ?? null, after }))
      : []
  return (
    <div role="status">
      <p>{t('Tried on {}.', on)}</p>
      {isBefore && changes.length === 0 && <p>{t('It lets the write through and changes nothing.')}</p>}
      <Changes changes={changes} type={noun.name} />
      {!isBefore && returned !== null && <JsonText value={returned} label={t('What the hook returns')} />}
      {!isBefore && <WrittenEvents events={events} />}
    </div>
  )
}
