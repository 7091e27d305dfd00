import '../../style/pages/import.css'
import type { Json } from '@tildebase/nouns'
import { useState } from 'preact/hooks'
import { useUnsaved } from '../drafts.ts'
import { Arrow } from '../parts/arrow.tsx'
import { useData } from '../service/cache.ts'
import { nouns } from '../service/schema.ts'
import { request } from '../service/service.ts'
import { sayDone, write } from '../service/write.ts'
import { t } from '../texts/text.ts'
import { sayError } from '../toast.ts'
import { Act, Scroll } from '../ui/basics.tsx'
import { Icon } from '../ui/icon.tsx'
import { Failure, Skeleton } from '../ui/states.tsx'
import type { Entity } from '../values/entity.ts'
import { labelOf, shortText } from '../values/format.ts'
import { isWritable } from '../values/noun.ts'

/** How the objects of a service become entities. */
type Mapping = { readonly [object: string]: ObjectMapping }

interface ObjectMapping {
  readonly type: string
  readonly fields: { readonly [theirs: string]: string }
}

/** A record of the service, as the mapping would write it. */
interface PreviewedRecord {
  readonly source: string
  readonly values: { readonly [theirs: string]: Json }
  readonly data: { readonly [ours: string]: Json }
  readonly issues: readonly { readonly field: string; readonly message: string }[]
}

interface PreviewedObject {
  readonly object: string
  readonly records: readonly PreviewedRecord[]
  readonly error?: string
}

interface Preview {
  readonly mapping: Mapping
  readonly default: Mapping
  readonly objects: readonly PreviewedObject[]
}

const TYPE = 'Integration'
const EMPTY = '—'

/** Which of their fields become which of ours, with records of the service as they would be written. */
export function MappingPanel({ integration, mayWrite }: { integration: Entity; mayWrite: boolean }) {
  const { $id, name } = integration
  const [draft, setDraft] = useState<Mapping | null>(null)
  const [tried, setTried] = useState<Mapping | null>(null)
  const found = useData<Preview>(
    ['preview', $id, integration.mapping ?? null, tried],
    mayWrite
      ? (signal) =>
          request('POST', `/${TYPE}/${$id}/preview`, { body: tried === null ? {} : { mapping: tried }, signal })
      : null,
  )
  useUnsaved(draft !== null)
  if (!mayWrite) return null
  const preview = found.value
  const mapping = draft ?? preview?.mapping ?? null
  const save = async () => {
    try {
      const change = { method: 'PUT' as const, path: `/${TYPE}/${$id}`, body: { mapping: draft }, type: TYPE }
      const { correlation } = await write(change)
      setDraft(null)
      sayDone(t('The mapping of {} is saved.', String(name)), correlation)
    } catch (reason) {
      sayError(reason)
    }
  }
  const objects = [...new Set([...Object.keys(preview?.default ?? {}), ...Object.keys(mapping ?? {})])]
  const setObject = (object: string, one: ObjectMapping | undefined) => {
    const { [object]: _, ...others } = mapping ?? {}
    setDraft(one ? { ...mapping, [object]: one } : others)
  }
  const isTried = draft === null || JSON.stringify(draft) === JSON.stringify(tried)
  return (
    <section class="panel" aria-labelledby="mapping-title" aria-busy={found.loading}>
      <h2 id="mapping-title">{t('Fields')}</h2>
      <Failure error={found.error} onRetry={found.reload} />
      {!preview && !found.error && <Skeleton rows={4} label={t('Reading a few records')} />}
      {preview && mapping && (
        <>
          {objects.map((object) => (
            <ObjectPart
              key={object}
              object={object}
              mapping={mapping[object]}
              standard={preview.default[object]}
              preview={preview.objects.find((one) => one.object === object)}
              onChange={(one) => setObject(object, one)}
            />
          ))}
          <footer class="import-actions">
            <button type="button" aria-busy={found.loading} disabled={isTried} onClick={() => setTried(draft)}>
              {t('Preview')}
            </button>
            <Act class="primary" disabled={draft === null || Object.keys(draft).length === 0} onRun={save}>
              {t('Save the fields')}
            </Act>
            <button type="button" onClick={() => setDraft(preview.default)}>
              {t('Use the defaults')}
            </button>
          </footer>
        </>
      )}
    </section>
  )
}

/** One object of the service: whether it is read, its fields, and what comes of its records. */
function ObjectPart(props: {
  object: string
  mapping: ObjectMapping | undefined
  standard: ObjectMapping | undefined
  preview: PreviewedObject | undefined
  onChange: (mapping: ObjectMapping | undefined) => void
}) {
  const { object, mapping, standard, preview, onChange } = props
  const noun = mapping && nouns.value.get(mapping.type)
  const fields = Object.values(noun?.fields ?? {}).filter(isWritable)
  const record = preview?.records[0]
  const lines = Object.entries(mapping?.fields ?? {})
  const setLines = (next: readonly (readonly [string, string])[]) =>
    mapping && onChange({ ...mapping, fields: Object.fromEntries(next) })
  const unused = Object.keys(record?.values ?? {}).filter((theirs) => !Object.hasOwn(mapping?.fields ?? {}, theirs))
  const [added, setAdded] = useState('')
  const add = () => {
    const theirs = added.trim()
    if (theirs === '' || Object.hasOwn(mapping?.fields ?? {}, theirs)) return
    setAdded('')
    setLines([...lines, [theirs, fields.find(({ name }) => name === theirs)?.name ?? fields[0]!.name]])
  }
  return (
    <fieldset class="object-mapping">
      <legend>
        <label class="check">
          <input
            type="checkbox"
            checked={mapping !== undefined}
            onChange={({ currentTarget }) => onChange(currentTarget.checked ? standard : undefined)}
          />{' '}
          {labelOf(object)}
        </label>
        {mapping && <span class="hint"> {t('become {}', mapping.type)}</span>}
      </legend>
      {mapping && (
        <>
          <Scroll label={t('Fields of {}', object)}>
            <table class="grid mapping">
              <thead>
                <tr>
                  <th scope="col">{t('Their field')}</th>
                  <th scope="col">{t('Our field')}</th>
                  <th scope="col">{t('Example')}</th>
                </tr>
              </thead>
              <tbody>
                {lines.map(([theirs, ours], at) => (
                  <tr key={theirs}>
                    <th scope="row">{theirs}</th>
                    <td>
                      <select
                        aria-label={t('Field for {}', theirs)}
                        value={ours}
                        onChange={({ currentTarget }) =>
                          setLines(
                            currentTarget.value === ''
                              ? lines.toSpliced(at, 1)
                              : lines.toSpliced(at, 1, [theirs, currentTarget.value]),
                          )
                        }
                      >
                        <option value="">{t('leave out')}</option>
                        {!fields.some((field) => field.name === ours) && <option value={ours}>{ours}</option>}
                        {fields.map((field) => (
                          <option key={field.name} value={field.name}>
                            {labelOf(field.name)}
                          </option>
                        ))}
                      </select>
                    </td>
                    <td class="wrap">
                      {record && shown(record.data[ours]) !== EMPTY && (
                        <span class="example">
                          {shown(record.values[theirs])} <Arrow /> <b>{shown(record.data[ours])}</b>
                        </span>
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
          <form
            class="add-field"
            onSubmit={(event) => {
              event.preventDefault()
              add()
            }}
          >
            <input
              aria-label={t('Another field of {}', object)}
              placeholder={t('Another field')}
              list={`unused-${object}`}
              value={added}
              onInput={({ currentTarget }) => setAdded(currentTarget.value)}
            />
            <datalist id={`unused-${object}`}>
              {unused.map((theirs) => (
                <option key={theirs} value={theirs} />
              ))}
            </datalist>
            <button type="submit">
              <Icon name="plus" /> {t('Add')}
            </button>
          </form>
          {preview && <Records object={object} preview={preview} />}
        </>
      )}
    </fieldset>
  )
}

/** Records of the service as they would be written. */
function Records({ object, preview: { records, error } }: { object: string; preview: PreviewedObject }) {
  if (error !== undefined) return <p class="notice">{error}</p>
  if (records.length === 0) return <p class="hint">{t('There are no records.')}</p>
  const columns = [...new Set(records.flatMap(({ data }) => Object.keys(data)))]
  return (
    <details class="folded">
      <summary>
        {t(
          '{} as they would be written',
          records.length === 1 ? t('The first record') : t('The first {} records', records.length),
        )}
      </summary>
      <Scroll label={t('Preview of {}', object)}>
        <table class="grid">
          <thead>
            <tr>
              {columns.map((name) => (
                <th key={name} scope="col">
                  {labelOf(name)}
                </th>
              ))}
              <th scope="col">{t('Check')}</th>
            </tr>
          </thead>
          <tbody>
            {records.map(({ source, data, issues }) => (
              <tr key={source}>
                {columns.map((name) => (
                  <td key={name}>{shown(data[name])}</td>
                ))}
                <td>
                  {issues.length === 0 ? (
                    <span class="state tone-good">{t('fits')}</span>
                  ) : (
                    <span class="state tone-bad">
                      {issues.map(({ field, message }) => `${field} ${message}`).join('; ')}
                    </span>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </details>
  )
}

/** A value in short; a reference by where its target comes from. */
function shown(value: Json | undefined): string {
  if (value === undefined || value === null || value === '') return EMPTY
  const { source } = value as { readonly source?: Json }
  if (typeof source === 'string') return source
  return shortText(value, 40)
}
