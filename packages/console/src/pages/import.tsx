import type { Field } from '@tildebase/nouns'
import { useId, useRef, useState } from 'preact/hooks'
import { mayChange } from '../access.ts'
import { numberText } from '../format.ts'
import { ImportMapping } from '../import/mapping.tsx'
import { ImportOutcome, type Outcome } from '../import/outcome.tsx'
import { isTable, readTable, type Table } from '../import/read.ts'
import { type ImportOptions, upload, uploadRows } from '../import/upload.ts'
import { asOf, place } from '../place.ts'
import { nouns } from '../schema.ts'
import { Head, Labelled } from '../ui/basics.tsx'
import { EmptyState, Failure } from '../ui/states.tsx'

const HIDDEN = new Set(['ApiKey', 'Webhook', 'View', 'Dashboard'])

/** Imports a file of entities: one event per entity, and errors reported per row. */
export function ImportPage() {
  const id = useId()
  const open = [...nouns.value.values()].filter((noun) => mayChange(noun) && !HIDDEN.has(noun.name))
  const [type, setType] = useState(
    place.value.query.get('type') ?? (nouns.value.has('Contact') ? 'Contact' : (open[0]?.name ?? '')),
  )
  const [upsert, setUpsert] = useState('')
  const [file, setFile] = useState<File | null>(null)
  const [table, setTable] = useState<Table | null>(null)
  const [sent, setSent] = useState<number | null>(null)
  const [outcome, setOutcome] = useState<Outcome | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const [isOver, setOver] = useState(false)
  const picker = useRef<HTMLInputElement>(null)
  const noun = nouns.value.get(type)
  const uniques = Object.values(noun?.fields ?? {}).filter(isUnique)
  const take = async (given: File | undefined) => {
    if (!given) return
    // The same file can be chosen again.
    if (picker.current) picker.current.value = ''
    setOutcome(null)
    setError(null)
    setFile(given)
    setTable(null)
    try {
      if (isTable(given)) setTable(await readTable(given))
    } catch (reason) {
      setError(reason as Error)
    }
  }
  const run = async (dryRun: boolean, rows: readonly object[] | null) => {
    if (!file || sent !== null) return
    const options: ImportOptions = { type, dryRun, upsert: upsert || null, onSent: setSent }
    setError(null)
    setOutcome(null)
    setSent(0)
    try {
      const report = await (rows ? uploadRows(rows, options) : upload(file, options))
      setOutcome({ ...report, file: file.name, wasDry: dryRun, firstLine: rows ? 2 : 1 })
    } catch (reason) {
      setError(reason as Error)
    }
    setSent(null)
  }
  if (asOf.value !== null) {
    return (
      <>
        <Head title="Import" />
        <EmptyState icon="clock" title="Nothing can be imported into the past. Go back to now first." />
      </>
    )
  }
  return (
    <>
      <Head title="Import" about="CSV, JSON or NDJSON, also gzipped" />
      <section class="panel">
        <div class="form-grid">
          <Labelled label="Type" for={`${id}-type`}>
            <select id={`${id}-type`} value={type} onChange={(event) => setType(event.currentTarget.value)}>
              {open.map(({ name }) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </Labelled>
          <Labelled label="When it exists already" for={`${id}-upsert`}>
            <select id={`${id}-upsert`} value={upsert} onChange={(event) => setUpsert(event.currentTarget.value)}>
              <option value="">reject the row</option>
              {uniques.map(({ name }) => (
                <option key={name} value={name}>
                  update it, by {name}
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
          <legend class="unseen">File</legend>
          <p>
            {file ? `${file.name} · ${numberText(Math.max(1, Math.round(file.size / 1024)))} kB` : 'Drop a file here'}
          </p>
          <button type="button" onClick={() => picker.current?.click()}>
            {file ? 'Choose another file' : 'Choose a file'}
          </button>
          <input
            ref={picker}
            type="file"
            hidden
            aria-label="File to import"
            accept=".json,.ndjson,.jsonl,.csv,.tsv,.gz"
            onChange={(event) => void take(event.currentTarget.files?.[0])}
          />
        </fieldset>
        {sent !== null && <progress aria-label="Sent" max={1} value={sent} />}
        <Failure error={error} />
        {file && noun && table && (
          <ImportMapping
            key={`${file.name} ${type}`}
            noun={noun}
            table={table}
            isBusy={sent !== null}
            onRun={(dryRun, rows) => void run(dryRun, rows)}
          />
        )}
        {file && !table && !isTable(file) && (
          <footer class="import-actions">
            <button type="button" onClick={() => void run(true, null)} aria-busy={sent !== null}>
              Check without writing
            </button>
            <button type="button" class="primary" onClick={() => void run(false, null)} aria-busy={sent !== null}>
              Import
            </button>
          </footer>
        )}
      </section>
      {outcome && <ImportOutcome outcome={outcome} />}
    </>
  )
}

function isUnique(field: Field): boolean {
  return field.kind !== 'forward' && field.kind !== 'back' && field.index === 'unique'
}
