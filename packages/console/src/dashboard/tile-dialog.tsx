import '../../style/pages/filter.css'
import { useState } from 'preact/hooks'
import { FilterBuilder } from '../list/filter/filter-builder.tsx'
import { HIDDEN_TYPES } from '../parts/frame/side.tsx'
import { may } from '../service/rights.ts'
import { nouns } from '../service/schema.ts'
import { t } from '../texts/text.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { SelectField, TextField } from '../ui/inputs.tsx'
import { labelOf } from '../values/format.ts'
import { type Noun, titleField } from '../values/noun.ts'
import { type Tile, titleOfTile } from './dashboards.ts'

const METRICS = [
  'mrr', 'arr', 'nrr', 'churn', 'ltv', 'pipeline', 'deals_won', 'leads', 'tickets_open', 'satisfaction', 'trial_conversion',
] // biome-ignore format: a list of words

const SOURCES: readonly { readonly value: Tile['source']; readonly label: string }[] = [
  { value: 'count', label: t('How many there are') },
  { value: 'sum', label: t('The sum of a field') },
  { value: 'avg', label: t('The average of a field') },
  { value: 'metric', label: t('A metric over time') },
]

/** What a tile shows: of which type, which number, in which groups, under which filter. */
export function TileDialog(props: { tile: Tile | null; onClose: () => void; onSave: (tile: Tile) => void }) {
  const types = [...nouns.value.values()].filter((noun) => may('read', noun) && !HIDDEN_TYPES.has(noun.name))
  const [tile, setTile] = useState<Tile>(props.tile ?? { source: 'count', of: types[0]?.name ?? '' })
  const noun = tile.source === 'metric' ? undefined : nouns.value.get(tile.of)
  const set = (patch: Partial<Tile>) => setTile((old) => ({ ...old, ...patch }))
  const source = (value: Tile['source']) =>
    set({ source: value, of: value === 'metric' ? 'mrr' : nouns.value.has(tile.of) ? tile.of : (types[0]?.name ?? '') })
  const save = async () => {
    const { title = '', ...shown } = tile
    props.onSave(title.trim() === '' ? shown : { ...shown, title: title.trim() })
    props.onClose()
  }
  return (
    <FormDialog
      title={props.tile ? t('Edit the tile') : t('Add a tile')}
      submit={props.tile ? t('Save') : t('Add')}
      onSubmit={save}
      onClose={props.onClose}
    >
      <SelectField
        label={t('Show')}
        value={tile.source}
        options={SOURCES}
        onChange={(value) => source(value as Tile['source'])}
      />
      {tile.source === 'metric' ? (
        <SelectField
          label={t('Metric')}
          value={tile.of}
          options={METRICS.map((name) => ({ value: name, label: labelOf(name) }))}
          onChange={(of) => set({ of })}
        />
      ) : (
        <SelectField
          label={t('Of')}
          value={tile.of}
          options={types.map(({ name, path }) => ({ value: name, label: labelOf(path) }))}
          onChange={(of) => setTile({ title: tile.title ?? '', source: tile.source, of })}
        />
      )}
      {noun && tile.source !== 'count' && (
        <SelectField
          label={t('Field')}
          value={tile.field ?? ''}
          isRequired
          options={fieldsOf(noun, 'number')}
          onChange={(field) => set({ field })}
        />
      )}
      {noun && (
        <SelectField
          label={t('In groups by')}
          value={tile.group ?? ''}
          options={[
            { value: '', label: t('no groups, one number') },
            ...fieldsOf(noun, 'enum'),
            ...fieldsOf(noun, 'string'),
            ...relationsOf(noun),
            ...monthsOf(noun),
          ]}
          onChange={(group) => set({ group: group || undefined })}
        />
      )}
      {noun && (
        <FilterBuilder key={noun.name} noun={noun} query={tile.filter ?? {}} onChange={(filter) => set({ filter })} />
      )}
      <TextField
        label={t('Title')}
        placeholder={titleOfTile({ ...tile, title: '' })}
        value={tile.title ?? ''}
        onChange={(title) => set({ title })}
      />
    </FormDialog>
  )
}

function fieldsOf(noun: Noun, kind: string): { value: string; label: string }[] {
  return Object.values(noun.fields)
    .filter((field) => field.kind === kind && !field.list)
    .map(({ name }) => ({ value: name, label: labelOf(name) }))
}

/** Relations by the names of what they lead to. */
function relationsOf(noun: Noun): { value: string; label: string }[] {
  return Object.values(noun.fields).flatMap((field) => {
    const title = field.kind === 'forward' && !field.list ? titleField(nouns.value.get(field.target)) : null
    return title === null ? [] : [{ value: `${field.name}.${title}`, label: labelOf(field.name) }]
  })
}

/** Days and times by their months. */
function monthsOf(noun: Noun): { value: string; label: string }[] {
  const times = [
    ...fieldsOf(noun, 'date'),
    ...fieldsOf(noun, 'datetime'),
    { value: '$createdAt', label: t('Created at') },
  ]
  return times.map(({ value, label }) => ({ value: `${value}:month`, label: t('{}, by month', label) }))
}
