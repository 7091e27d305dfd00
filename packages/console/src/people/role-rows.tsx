import type { Json } from '@tildebase/nouns'
import { FilterBuilder } from '../list/filter/filter-builder.tsx'
import { nouns } from '../service/schema.ts'
import { t } from '../texts/text.ts'
import { Icon } from '../ui/icon.tsx'
import { SelectField } from '../ui/inputs.tsx'
import { labelOf } from '../values/format.ts'
import type { Noun } from '../values/noun.ts'
import type { RowFilters } from './role-rights.ts'

/** Which records of each type a role sees: its own ones, or those that meet conditions. */
export function RoleRows(props: {
  types: readonly Noun[]
  /** The filters that mean own records. */
  own: RowFilters
  rows: RowFilters
  onChange: (rows: RowFilters) => void
}) {
  const { types, own, rows, onChange } = props
  const without = (type: string) => Object.fromEntries(Object.entries(rows).filter(([name]) => name !== type))
  const free = types.filter(({ name, domain }) => !(name in rows) && domain !== 'identity')
  return (
    <div class="role-rows">
      {Object.entries(rows).map(([type, filter]) => {
        const noun = nouns.value.get(type)
        const path = labelOf(noun?.path ?? type)
        return (
          <fieldset key={type}>
            <legend>{path}</legend>
            {isSame(filter, own[type]) || !noun ? (
              <p class="hint">{t('What the person owns or is assigned to')}</p>
            ) : (
              <FilterBuilder
                noun={noun}
                query={filter}
                hasPeriods={false}
                onChange={(next) => onChange({ ...rows, [type]: next })}
              />
            )}
            <button
              type="button"
              class="quiet icon-only"
              aria-label={t('All {}', path.toLowerCase())}
              title={t('No rule: all of them')}
              onClick={() => onChange(without(type))}
            >
              <Icon name="close" />
            </button>
          </fieldset>
        )
      })}
      <SelectField
        label={t('Add a rule for')}
        value=""
        options={[
          { value: '', label: t('choose…') },
          ...free.map(({ name, path }) => ({ value: name, label: labelOf(path) })),
        ]}
        onChange={(type) => type !== '' && onChange({ ...rows, [type]: {} })}
      />
    </div>
  )
}

function isSame(one: Json | undefined, other: Json | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
