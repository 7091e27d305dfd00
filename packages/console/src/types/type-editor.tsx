import type { JsonObject } from '@tildebase/nouns'
import { useId, useState } from 'preact/hooks'
import { go } from '../place.ts'
import { useSettled } from '../service/cache.ts'
import { loadNouns, nouns } from '../service/schema.ts'
import { request } from '../service/service.ts'
import { t } from '../texts/text.ts'
import { say } from '../toast.ts'
import { Labelled, Scroll } from '../ui/basics.tsx'
import { confirm } from '../ui/dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { labelOf } from '../values/format.ts'
import { type Noun, wordsOf } from '../values/noun.ts'
import { FieldLine, VerbLine } from './lines.tsx'
import {
  draftOf,
  EMPTY_FIELD,
  type FieldRow,
  NAMED,
  notationOf,
  stateField,
  type TypeDraft,
  typeName,
  type VerbRow,
  wordsIn,
} from './notation.ts'
import { Preview } from './preview.tsx'

const FIRST: TypeDraft = {
  name: '',
  fields: [{ ...EMPTY_FIELD, name: 'name', required: true }],
  verbs: [],
  state: null,
  rest: {},
}

/** The fields and verbs of a type of the tenant's own, or those that it adds to a built-in one. */
export function TypeEditor(props: { noun: Noun | null; own: JsonObject; isBuiltIn: boolean; canWrite: boolean }) {
  const { noun, isBuiltIn, canWrite } = props
  const id = useId()
  const [draft, setDraft] = useState<TypeDraft>(() => (noun ? draftOf(noun, props.own) : FIRST))
  const [error, setError] = useState<Error | null>(null)
  const settled = useSettled(draft, 400)
  const own = draft.fields.find(({ name }) => name === stateField(draft.fields))
  const states = draft.state === null ? wordsIn(own?.words ?? '') : wordsOf(noun?.fields[draft.state])
  const setField = (at: number, patch: Partial<FieldRow>) =>
    setDraft((old) => ({ ...old, fields: old.fields.map((row, n) => (n === at ? { ...row, ...patch } : row)) }))
  const setVerb = (at: number, patch: Partial<VerbRow>) =>
    setDraft((old) => ({ ...old, verbs: old.verbs.map((row, n) => (n === at ? { ...row, ...patch } : row)) }))
  const save = async () => {
    const name = typeName(draft.name)
    try {
      await request('PUT', `/schema/${encodeURIComponent(name)}`, { body: notationOf(draft) })
      await loadNouns()
      setError(null)
      say(noun ? t('{} saved.', labelOf(name)) : t('{} created.', labelOf(name)))
      if (!noun) go(['types', name])
    } catch (reason) {
      setError(reason as Error)
    }
  }
  const drop = async () => {
    const about = isBuiltIn
      ? t('The type loses all that was added to it. Stored values stay, but no longer belong to a field.')
      : t('The type can be taken back while it has no entries.')
    if (
      !(await confirm(
        t('Take back {}?', isBuiltIn ? t('the additions to {}', draft.name) : draft.name),
        about,
        t('Take back'),
      ))
    )
      return
    try {
      await request('DELETE', `/schema/${draft.name}`)
      await loadNouns()
      go(['types'])
    } catch (reason) {
      setError(reason as Error)
    }
  }
  return (
    <form
      class="panel type-editor"
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      {/* A reader of a type has nothing to press. */}
      <fieldset disabled={!canWrite}>
        <legend class="unseen">{noun ? noun.name : t('New type')}</legend>
        {!noun && (
          <Labelled label={t('Name')} for={`${id}-name`} hint={t('In the singular, such as Boat or Service contract')}>
            <input
              id={`${id}-name`}
              required
              pattern={NAMED}
              title={t('A name has a letter from A to Z.')}
              autocomplete="off"
              value={draft.name}
              onInput={(event) => setDraft({ ...draft, name: event.currentTarget.value })}
            />
          </Labelled>
        )}
        <h2>{isBuiltIn ? t('Added fields') : t('Fields')}</h2>
        {isBuiltIn && draft.fields.length === 0 && (
          <p class="hint">
            {t('None yet. The built-in ones are below.')} {canWrite && t('Add what your business needs beside them.')}
          </p>
        )}
        {draft.fields.length > 0 && (
          <Scroll label={t('Fields')}>
            <table class="grid records lines-table">
              <thead>
                <tr>
                  {[t('Name'), t('Kind'), t('Of'), t('Required'), t('Several'), t('Index'), t('Default')].map(
                    (word) => (
                      <th scope="col" key={word}>
                        {word}
                      </th>
                    ),
                  )}
                  <th scope="col">
                    <span class="unseen">{t('Actions')}</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {draft.fields.map((row, at) => (
                  <FieldLine
                    key={at}
                    row={row}
                    types={[...nouns.value.keys()]}
                    onChange={(patch) => setField(at, patch)}
                    onRemove={() => setDraft({ ...draft, fields: draft.fields.filter((_, n) => n !== at) })}
                  />
                ))}
              </tbody>
            </table>
          </Scroll>
        )}
        <button
          type="button"
          class="quiet"
          onClick={() => setDraft({ ...draft, fields: [...draft.fields, EMPTY_FIELD] })}
        >
          <Icon name="plus" /> {t('Field')}
        </button>
        <h2>{t('Actions that move the state')}</h2>
        {states.length === 0 ? (
          <p class="hint">{t('A choice field named status or stage makes states, and actions move between them.')}</p>
        ) : (
          <>
            {draft.verbs.map((row, at) => (
              <VerbLine
                key={at}
                row={row}
                states={states}
                onChange={(patch) => setVerb(at, patch)}
                onRemove={() => setDraft({ ...draft, verbs: draft.verbs.filter((_, n) => n !== at) })}
              />
            ))}
            <button
              type="button"
              class="quiet"
              onClick={() => setDraft({ ...draft, verbs: [...draft.verbs, { name: '', from: '', to: '' }] })}
            >
              <Icon name="plus" /> {t('Action')}
            </button>
          </>
        )}
      </fieldset>
      {canWrite && <Preview noun={noun} draft={settled} refusal={error} />}
      {canWrite && (
        <footer>
          <button type="submit" class="primary">
            {noun ? t('Save the type') : t('Create the type')}
          </button>
          {noun && Object.keys(props.own).length > 0 && (
            <button type="button" class="danger" onClick={() => void drop()}>
              {t('Take back…')}
            </button>
          )}
        </footer>
      )}
    </form>
  )
}
