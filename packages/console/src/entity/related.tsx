import type { BackField } from '@tildebase/nouns'
import { useState } from 'preact/hooks'
import { columnLabel, defaultColumns, TITLE } from '../list/table/columns.ts'
import { CreateDialog } from '../parts/forms/create.tsx'
import { Value } from '../parts/value.tsx'
import { href } from '../place.ts'
import { mayChange } from '../service/access.ts'
import { may } from '../service/rights.ts'
import { nouns, titleOf } from '../service/schema.ts'
import { t } from '../texts/text.ts'
import { useTurns } from '../turns.ts'
import { Icon } from '../ui/icon.tsx'
import { Loading } from '../ui/states.tsx'
import { type Entity, isEntity } from '../values/entity.ts'
import { inSentence, labelOf, numberText } from '../values/format.ts'
import { type Noun, singular, titleField } from '../values/noun.ts'
import { hasMail } from './mail.tsx'

const ROWS = 5

/** What belongs to an entity: a table for each relation that points to it, with a way to add to it. */
export function Related({ noun, entity }: { noun: Noun; entity: Entity }) {
  const fields = Object.values(noun.fields).filter(
    (field): field is BackField =>
      field.kind === 'back' &&
      may('read', nouns.value.get(field.target)) &&
      // Messages have a thread of their own.
      !(field.target === 'Message' && hasMail(noun.name)),
  )
  const filled = fields.filter((field) => entitiesOf(entity, field).length > 0)
  const drawn = useTurns(filled.length, 1, 1)
  const empty = fields.filter((field) => !filled.includes(field) && mayChange(nouns.value.get(field.target)))
  return (
    <>
      {filled.slice(0, drawn).map((field) => (
        <Relation key={field.name} field={field} entity={entity} />
      ))}
      {drawn < filled.length && <Loading />}
      {empty.length > 0 && (
        <section class="panel add-related" aria-label={t('Add')}>
          <span class="hint">{t('Add')}</span>
          {empty.map((field) => (
            <AddButton key={field.name} field={field} entity={entity} />
          ))}
        </section>
      )}
    </>
  )
}

function Relation({ field, entity }: { field: BackField; entity: Entity }) {
  const target = nouns.value.get(field.target)!
  const rows = entitiesOf(entity, field)
  const columns = defaultColumns(target)
    .filter((name) => name !== field.via && target.fields[name]?.kind !== 'forward')
    .slice(0, 4)
  return (
    <section class="panel related" aria-label={labelOf(field.name)}>
      <div class="panel-head">
        <h2>
          {labelOf(field.name)} <span class="count">{rows.length === 100 ? '100+' : numberText(rows.length)}</span>
        </h2>
        {mayChange(target) && <AddButton field={field} entity={entity} />}
      </div>
      <table class="grid plain">
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col">
                {columnLabel(target, name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, ROWS).map((one) => (
            <tr key={one.$id}>
              {columns.map((name) => (
                <td key={name}>
                  {name === TITLE || name === titleField(target) ? (
                    <a class="title" href={href([field.target, one.$id])}>
                      {titleOf(one, target)}
                    </a>
                  ) : (
                    <Value value={one[name]} field={target.fields[name]} name={name} entity={one} isNear />
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > ROWS && (
        <a class="more" href={href([field.target], { filter: JSON.stringify({ [field.via]: entity.$id }) })}>
          {t('All {}', inSentence(field.name))}
        </a>
      )}
    </section>
  )
}

function AddButton({ field, entity }: { field: BackField; entity: Entity }) {
  const target = nouns.value.get(field.target)!
  const [open, setOpen] = useState(false)
  const via = target.fields[field.via]
  const isList = via?.kind === 'forward' && via.list
  return (
    <>
      <button type="button" class="quiet" onClick={() => setOpen(true)}>
        <Icon name="plus" /> {labelOf(singular(target))}
      </button>
      {open && (
        <CreateDialog
          noun={target}
          preset={{ [field.via]: isList ? [entity.$id] : entity.$id }}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  )
}

function entitiesOf(entity: Entity, field: BackField): Entity[] {
  const value = entity[field.name]
  return (Array.isArray(value) ? value : [value]).filter(isEntity)
}
