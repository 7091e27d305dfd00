import '../../style/pages/bulk.css'
import type { Verb } from '@tildebase/nouns'
import { useState } from 'preact/hooks'
import { FieldsForm, type FormField } from '../parts/forms/form.tsx'
import { argument } from '../parts/forms/verb-dialog.tsx'
import { t } from '../texts/text.ts'
import { sayError } from '../toast.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import type { Draft, Entity } from '../values/entity.ts'
import { inSentence, labelOf, numberText } from '../values/format.ts'
import { isEditable, isRequired, type Noun, plural, titleField } from '../values/noun.ts'
import { changeMany, commonVerbs, everyOne, progress } from './bulk.ts'
import { exportItems } from './export/export.ts'

/** What can be done with the rows that are selected. */
export function BulkBar(props: {
  noun: Noun
  selected: readonly Entity[]
  /** The filter of the list, and how many entities it finds. */
  filter: object
  total: number
  onAll: (all: readonly Entity[]) => void
  onClear: () => void
}) {
  const { noun, selected } = props
  const [editing, setEditing] = useState(false)
  const [isEmptying, setEmptying] = useState(false)
  const [emptied, setEmptied] = useState<ReadonlySet<string>>(new Set())
  const [asking, setAsking] = useState<Verb | null>(null)
  const running = progress.value
  const verbs = commonVerbs(noun, selected)
  const change = async (what: Omit<Parameters<typeof changeMany>[1], 'noun'>) => {
    await changeMany(selected, { noun, ...what })
    props.onClear()
  }
  const empty = (name: string, isEmptied: boolean) => {
    const next = new Set(emptied)
    if (isEmptied) next.add(name)
    else next.delete(name)
    setEmptied(next)
  }
  const startEditing = () => {
    setEmptied(new Set())
    setEmptying(false)
    setEditing(true)
  }
  const runOnAll = (verb: Verb, body: Draft) =>
    change({ done: inSentence(verb.event), method: 'POST', suffix: `/${verb.name}`, body })
  const deleteAll = () => change({ done: inSentence('deleted'), method: 'DELETE', suffix: '' })
  return (
    <section class="bulk-bar" aria-label={t('Selection')}>
      {running ? (
        <>
          <progress aria-label={t('Progress')} max={running.total} value={running.done} />
          <span role="status">{t('{} of {}', numberText(running.done), numberText(running.total))}</span>
        </>
      ) : (
        <>
          <strong>{t('{} selected', numberText(selected.length))}</strong>
          {props.total > selected.length && (
            <button
              type="button"
              class="quiet"
              onClick={() => void everyOne(noun, props.filter, props.total).then(props.onAll).catch(sayError)}
            >
              {t('Select all {}', numberText(props.total))}
            </button>
          )}
          <span class="spring" />
          {noun.verbs.update && (
            <button type="button" onClick={startEditing}>
              <Icon name="edit" /> {t('Edit')}
            </button>
          )}
          {verbs.length > 0 && (
            <Menu
              label={t('Run an action')}
              items={verbs.map((verb) => ({
                label: labelOf(verb.name),
                onSelect: () => (verb.args?.length ? setAsking(verb) : runOnAll(verb, {}).catch(sayError)),
              }))}
            />
          )}
          <Menu label={t('Export')} icon="download" items={exportItems(noun, { selected })} />
          {noun.verbs.delete && (
            <button type="button" class="danger" onClick={() => void deleteAll().catch(sayError)}>
              <Icon name="bin" /> {t('Delete')}
            </button>
          )}
          <button type="button" class="quiet icon-only" aria-label={t('Clear the selection')} onClick={props.onClear}>
            <Icon name="close" />
          </button>
        </>
      )}
      {asking && (
        <Dialog
          title={`${labelOf(asking.name)} ${numberText(selected.length)} ${plural(noun)}`}
          onClose={() => setAsking(null)}
        >
          <FieldsForm
            fields={(asking.args ?? []).map((name) => argument(noun, asking, name))}
            initial={{}}
            submit={labelOf(asking.name)}
            onCancel={() => setAsking(null)}
            onSubmit={async (args) => {
              await runOnAll(asking, args)
              setAsking(null)
            }}
          />
        </Dialog>
      )}
      {editing && (
        <Dialog title={t('Edit {} {}', numberText(selected.length), plural(noun))} onClose={() => setEditing(false)}>
          <p class="hint form-hint">{t('Fields that you leave alone keep their values.')}</p>
          <FieldsForm
            fields={optionalFields(noun)}
            initial={{}}
            submit={t('Save all')}
            onCancel={() => setEditing(false)}
            onSubmit={async (written) => {
              const body = { ...Object.fromEntries([...emptied].map((name) => [name, null])), ...written }
              if (Object.keys(body).length > 0)
                await change({ done: inSentence('changed'), method: 'PUT', suffix: '', body })
              setEditing(false)
            }}
          >
            <button
              type="button"
              class="quiet more-fields"
              aria-expanded={isEmptying}
              onClick={() => setEmptying(!isEmptying)}
            >
              {t('Empty a field')}
            </button>
            {isEmptying && (
              <div class="form-grid">
                {optionalFields(noun)
                  .filter(({ name }) => !isRequired(noun.fields[name]!))
                  .map(({ name }) => (
                    <label key={name} class="check">
                      <input
                        type="checkbox"
                        aria-label={t('Empty {}', inSentence(name))}
                        checked={emptied.has(name)}
                        onChange={({ currentTarget }) => empty(name, currentTarget.checked)}
                      />{' '}
                      {labelOf(name)}
                    </label>
                  ))}
              </div>
            )}
          </FieldsForm>
        </Dialog>
      )}
    </section>
  )
}

/** What many have in common, best first. A name is not, and texts come last: the first keys would change all of them. */
const COMMON: readonly string[] = ['enum', 'forward']

function optionalFields(noun: Noun): FormField[] {
  return Object.values(noun.fields)
    .filter((field) => isEditable(noun, field))
    .filter(({ name }) => name !== titleField(noun))
    .filter((field) => field.kind === 'forward' || field.index !== 'unique')
    .map((field) => ({ ...field, required: false }))
    .sort((a, b) => rankOf(a) - rankOf(b))
}

function rankOf({ kind }: FormField): number {
  const rank = COMMON.indexOf(kind)
  return rank < 0 ? COMMON.length : rank
}
