import { useState } from 'preact/hooks'
import { byDomain, nouns } from '../service/schema.ts'
import { request } from '../service/service.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { LongTextField, TextField } from '../ui/inputs.tsx'
import { labelOf, pretty } from '../values/format.ts'
import { ACTIONS, ownRows, type Rights, rightsOf, scopesOf } from './role-rights.ts'

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
  const [rights, setRights] = useState<Rights>(() => rightsOf(role.scopes))
  const [filter, setFilter] = useState(() =>
    role.filter && Object.keys(role.filter).length > 0 ? pretty(role.filter) : '',
  )
  const types = [...nouns.value.values()]
  const own = ownRows(types, rights)
  const isOwn = filter.trim() !== '' && sameText(filter, own)
  const isNew = role.name === ''
  const areas = ['all', ...byDomain(types).map(([domain]) => domain)]
  const others = Object.keys(rights).filter((area) => !areas.includes(area))
  const set = (area: string, action: string) => {
    const next = { ...rights, [area]: action }
    setRights(next)
    // Own records follow the areas.
    if (isOwn) setFilter(pretty(ownRows(types, next)))
  }
  const save = async () => {
    const rows = filter.trim() === '' ? {} : parsed(filter)
    await request('PUT', `/schema/roles/${encodeURIComponent(name)}`, {
      body: { scopes: scopesOf(rights), filter: rows },
    })
    onSaved(name)
  }
  return (
    <FormDialog title={isNew ? 'New role' : `Role ${role.name}`} submit="Save" onSubmit={save} onClose={onClose}>
      <TextField
        label="Name"
        hint="One word that begins with a capital letter, such as Sales."
        required
        pattern="[A-Z][A-Za-z0-9]{0,39}"
        disabled={!isNew}
        value={name}
        onChange={setName}
      />
      <fieldset class="choices rights">
        <legend>May</legend>
        {[...areas, ...others].map((area) => (
          <label key={area}>
            <span>{area === 'all' ? 'Everything' : labelOf(area)}</span>
            <select
              aria-label={area === 'all' ? 'Everything' : labelOf(area)}
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
          checked={isOwn}
          disabled={Object.keys(own).length === 0}
          onChange={(event) => setFilter(event.currentTarget.checked ? pretty(own) : '')}
        />{' '}
        Own records only: what the person owns or is assigned to
      </label>
      <details open={filter.trim() !== '' && !isOwn}>
        <summary>Other rows, by hand</summary>
        <LongTextField
          label="Only these rows"
          hint='Filters by type, such as {"Deal": {"owner": "$user.$id"}}. $user.email is the address of the person.'
          value={filter}
          onChange={setFilter}
        />
      </details>
      <p class="hint">
        Scopes: <code>{scopesOf(rights) || 'none'}</code>
      </p>
    </FormDialog>
  )
}

function sameText(text: string, value: object): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(value)
  } catch {
    return false
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('The rows by hand are not valid JSON. Correct them, or clear the field.')
  }
}
