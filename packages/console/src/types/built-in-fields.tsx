import type { Field } from '@tildebase/nouns'
import { useState } from 'preact/hooks'
import { choiceFields } from '../choices/choices.ts'
import { ChoicesDialog } from '../choices/choices-dialog.tsx'
import { t } from '../texts/text.ts'
import { DataTable } from '../ui/data-table.tsx'
import { labelOf } from '../values/format.ts'
import { isRequired, type Noun, targetsOf, wordsOf } from '../values/noun.ts'
import { KINDS } from './lines.tsx'

/** The fields that a type has from the service. Their choices can be changed, for instance the stages of deals. */
export function BuiltInFields({ noun, canWrite }: { noun: Noun; canWrite: boolean }) {
  const [editing, setEditing] = useState<string | null>(null)
  const fields = Object.values(noun.fields).filter(({ kind }) => kind !== 'secret')
  const choices = choiceFields(noun).map(({ name }) => name)
  return (
    <section class="panel" aria-labelledby="built-in-title">
      <h2 id="built-in-title">{t('Built-in fields')}</h2>
      <DataTable
        label={t('Fields')}
        data={{ value: true, error: null, reload: () => undefined }}
        rows={fields}
        keyOf={({ name }) => name}
        empty={null}
        columns={[
          { label: t('Name'), cell: ({ name }) => <span title={name}>{labelOf(name)}</span> },
          { label: t('Kind'), cell: kindOf },
          { label: t('Of'), cell: contentOf },
          { label: t('Required'), cell: (field) => (isRequired(field) ? t('Yes') : '') },
        ]}
        actions={({ name }) =>
          canWrite &&
          choices.includes(name) && (
            <button type="button" onClick={() => setEditing(name)}>
              {t('Edit the choices')}
            </button>
          )
        }
      />
      {editing !== null && <ChoicesDialog noun={noun} field={editing} onClose={() => setEditing(null)} />}
    </section>
  )
}

function kindOf(field: Field): string {
  const kind = field.kind === 'back' ? 'forward' : field.kind
  return KINDS.find(({ value }) => value === kind)?.label ?? labelOf(kind)
}

function contentOf(field: Field): string {
  const of = field.kind === 'enum' ? wordsOf(field) : targetsOf(field)
  return of.map((word) => (word === '*' ? t('any type') : labelOf(word))).join(', ')
}
