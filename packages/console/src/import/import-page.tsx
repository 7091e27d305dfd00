import '../../style/pages/import.css'
import type { Field } from '@tildebase/nouns'
import { useId, useRef, useState } from 'preact/hooks'
import { asOf, place } from '../place.ts'
import { mayChange } from '../service/access.ts'
import { nouns } from '../service/schema.ts'
import { t } from '../texts/text.ts'
import { Head, Labelled } from '../ui/basics.tsx'
import { EmptyState, Failure } from '../ui/states.tsx'
import { bytesText, inSentence, labelOf } from '../values/format.ts'
import { FileReading } from './file-reading.tsx'
import { failure, type ImportSource, job, outcome, runImport } from './job.ts'
import { ImportMapping } from './mapping.tsx'
import { ImportOutcome } from './outcome.tsx'
import { ImportProgress } from './progress.tsx'
import { isTable, type ReadOptions, readRows, readTable, type Table } from './read.ts'

const HIDDEN = new Set(['ApiKey', 'Webhook', 'View', 'Dashboard', 'Changeset', 'Setting'])

/** Imports a file of entities: one event per entity, and errors reported per row. */
export function ImportPage() {
  const id = useId()
  const open = [...nouns.value.values()].filter((noun) => mayChange(noun) && !HIDDEN.has(noun.name))
  const [type, setType] = useState(
    () => place.value.query.get('type') ?? (open.find(({ name }) => name === 'Contact') ?? open[0])?.name ?? '',
  )
  const [upsert, setUpsert] = useState('')
  const [file, setFile] = useState<File | null>(null)
  const [table, setTable] = useState<Table | null>(null)
  const [reading, setReading] = useState<ReadOptions>({})
  const [error, setError] = useState<Error | null>(null)
  const [isOver, setOver] = useState(false)
  const picker = useRef<HTMLInputElement>(null)
  const noun = nouns.value.get(type)
  const uniques = Object.values(noun?.fields ?? {}).filter(isUnique)
  const take = async (given: File | undefined) => {
    if (!given) return
    // The same file can be chosen again.
    if (picker.current) picker.current.value = ''
    outcome.value = null
    failure.value = null
    setFile(given)
    await read(given, {})
  }
  const read = async (given: File, how: ReadOptions) => {
    setError(null)
    setTable(null)
    setReading(how)
    try {
      if (isTable(given)) setTable(await readTable(given, how))
    } catch (reason) {
      setError(reason as Error)
    }
  }
  const isBusy = job.value !== null
  const run = async (dryRun: boolean, source: Omit<ImportSource, 'file'> | null) => {
    if (!file || isBusy) return
    setError(null)
    try {
      const rows = source ?? { rows: await readRows(file) }
      await runImport({ ...rows, file: file.name }, { type, dryRun, upsert: upsert || null })
    } catch (reason) {
      setError(reason as Error)
    }
  }
  if (asOf.value !== null) {
    return (
      <>
        <Head title={t('Import')} />
        <EmptyState icon="clock" title={t('Nothing can be imported into the past. Go back to now first.')} />
      </>
    )
  }
  if (open.length === 0) {
    return (
      <>
        <Head title={t('Import')} />
        <EmptyState icon="upload" title={t('This key can only read. An import needs a key that writes.')} />
      </>
    )
  }
  return (
    <>
      <Head title={t('Import')} about={t('CSV, JSON or NDJSON, also gzipped')} />
      <section class="panel">
        <div class="form-grid">
          <Labelled label={t('Type')} for={`${id}-type`}>
            <select id={`${id}-type`} value={type} onChange={(event) => setType(event.currentTarget.value)}>
              {open.map(({ name }) => (
                <option key={name} value={name}>
                  {labelOf(name)}
                </option>
              ))}
            </select>
          </Labelled>
          <Labelled label={t('When it exists already')} for={`${id}-upsert`}>
            <select id={`${id}-upsert`} value={upsert} onChange={(event) => setUpsert(event.currentTarget.value)}>
              <option value="">{t('reject the row')}</option>
              {uniques.map(({ name }) => (
                <option key={name} value={name}>
                  {t('update it, by {}', inSentence(name))}
                </option>
              ))}
            </select>
          </Labelled>
        </div>
        <fieldset
          class={`drop${isOver ? ' over' : ''}`}
          onDragOver={(event) => {
            event.preventDefault()
            setOver(true)
          }}
          onDragLeave={() => setOver(false)}
          onDrop={(event) => {
            event.preventDefault()
            setOver(false)
            void take(event.dataTransfer?.files[0])
          }}
        >
          <legend class="unseen">{t('File')}</legend>
          {file ? (
            <p>
              <bdi>{file.name}</bdi> · <bdi>{bytesText(file.size)}</bdi>
            </p>
          ) : (
            <p>{t('Drop a file here')}</p>
          )}
          <button type="button" onClick={() => picker.current?.click()}>
            {file ? t('Choose another file') : t('Choose a file')}
          </button>
          <input
            ref={picker}
            type="file"
            hidden
            aria-label={t('File to import')}
            accept=".json,.ndjson,.jsonl,.csv,.tsv,.txt,.gz"
            onChange={(event) => void take(event.currentTarget.files?.[0])}
          />
        </fieldset>
        {job.value && <ImportProgress job={job.value} />}
        <Failure error={error ?? failure.value} />
        {file && isTable(file) && (
          <FileReading table={table} reading={reading} onChange={(how) => void read(file, how)} />
        )}
        {file && noun && table && (
          <ImportMapping
            key={`${file.name} ${type} ${table.encoding} ${table.separator}`}
            noun={noun}
            table={table}
            isBusy={isBusy}
            onRun={(dryRun, source) => void run(dryRun, source)}
          />
        )}
        {file && !table && !isTable(file) && (
          <footer class="import-actions">
            <button type="button" onClick={() => void run(true, null)} aria-busy={isBusy}>
              {t('Check without writing')}
            </button>
            <button type="button" class="primary" onClick={() => void run(false, null)} aria-busy={isBusy}>
              {t('Import')}
            </button>
          </footer>
        )}
      </section>
      {outcome.value && <ImportOutcome outcome={outcome.value} />}
    </>
  )
}

function isUnique(field: Field): boolean {
  return field.kind !== 'forward' && field.kind !== 'back' && field.index === 'unique'
}
