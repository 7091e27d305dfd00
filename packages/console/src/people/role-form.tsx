import { useState } from 'preact/hooks'
import { mayDeclare } from '../service/access.ts'
import { byDomain, nouns } from '../service/schema.ts'
import { request } from '../service/service.ts'
import { ensureType, OWN_TYPES } from '../settings/own-notations.ts'
import { t } from '../texts/text.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { TextField } from '../ui/inputs.tsx'
import {
  ACTIONS,
  areaLabel,
  BASICS,
  hasBasics,
  ownRows,
  type Rights,
  type RowFilters,
  rightsOf,
  scopesOf,
  withBasics,
} from './role-rights.ts'
import { RoleRows } from './role-rows.tsx'

export interface Role {
  readonly name: string
  readonly scopes: string
  readonly filter: object | null
  readonly builtIn: boolean
}

/** What a role may do, area by area, and whether it sees own records only. */
export function RoleForm(props: { role: Role; onClose: () => void; onSaved: (name: string) => void }) {
  const { role, onClose, onSaved } = props
  const [name, setName] = useState(role.name)
  const [rights, setRights] = useState<Rights>(() =>
    withBasics(rightsOf(role.scopes), role.name === '' || hasBasics(rightsOf(role.scopes))),
  )
  const [rows, setRows] = useState<RowFilters>(() => ({ ...role.filter }) as RowFilters)
  const types = [...nouns.value.values()]
  const own = ownRows(types, rights)
  const isOwn = Object.keys(rows).length > 0 && JSON.stringify(rows) === JSON.stringify(own)
  const isNew = role.name === ''
  const areas = ['all', ...byDomain(types).map(([domain]) => domain)]
  const others = Object.keys(rights).filter((area) => !areas.includes(area) && BASICS[area] === undefined)
  const set = (area: string, action: string) => {
    const next = { ...rights, [area]: action }
    setRights(next)
    // Own records follow the areas.
    if (isOwn) setRows(ownRows(types, next))
  }
  const save = async () => {
    // A scope can name a type only when it is there.
    if (hasBasics(rights) && mayDeclare()) for (const type of OWN_TYPES) await ensureType(type)
    const known = Object.entries(rights).filter(([area]) => BASICS[area] === undefined || nouns.value.has(area))
    // A rule without conditions is left out.
    const ruled = Object.entries(rows).filter(([, filter]) => Object.keys(filter as object).length > 0)
    await request('PUT', `/schema/roles/${encodeURIComponent(name)}`, {
      body: { scopes: scopesOf(Object.fromEntries(known)), filter: Object.fromEntries(ruled) },
    })
    onSaved(name)
  }
  return (
    <FormDialog
      title={isNew ? t('New role') : t('Role {}', role.name)}
      submit={t('Save')}
      onSubmit={save}
      onClose={onClose}
    >
      <TextField
        label={t('Name')}
        field="name"
        hint={t('One word that begins with a capital letter, such as Sales.')}
        required
        pattern="[A-Z][A-Za-z0-9]{0,39}"
        disabled={!isNew}
        value={name}
        onChange={setName}
      />
      <fieldset class="choices rights">
        <legend>{t('May')}</legend>
        {[...areas, ...others].map((area) => (
          <label key={area}>
            <span>{areaLabel(area)}</span>
            <select
              aria-label={areaLabel(area)}
              value={rights[area] ?? ''}
              onChange={(event) => set(area, event.currentTarget.value)}
            >
              {!ACTIONS.some(({ value }) => value === (rights[area] ?? '')) && <option>{rights[area]}</option>}
              {ACTIONS.map(({ value, label }) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
          </label>
        ))}
      </fieldset>
      <label class="check">
        <input
          type="checkbox"
          checked={hasBasics(rights)}
          onChange={(event) => setRights(withBasics(rights, event.currentTarget.checked))}
        />{' '}
        {t('Everyday basics: sees colleagues, the currency, its own log and bin; saves views and dashboards')}
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={isOwn}
          disabled={Object.keys(own).length === 0}
          onChange={(event) => setRows(event.currentTarget.checked ? own : {})}
        />{' '}
        {t('Own records only: what the person owns or is assigned to')}
      </label>
      {!isOwn && (
        <details open={Object.keys(rows).length > 0}>
          <summary>{t('Only some records')}</summary>
          <RoleRows types={types} own={own} rows={rows} onChange={setRows} />
        </details>
      )}
    </FormDialog>
  )
}
