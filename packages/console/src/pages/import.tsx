import { useId, useRef, useState } from 'preact/hooks'
import { mayChange } from '../access.ts'
import { address, refused } from '../api.ts'
import { numberText } from '../format.ts'
import { useKeys } from '../keyboard.ts'
import { Empty, Head, Labelled, Scroll, Trouble } from '../parts/basics.tsx'
import { keep } from '../parts/export.tsx'
import { asOf, go, place } from '../place.ts'
import { type Field, nouns } from '../schema.ts'
import { session } from '../session.ts'

interface Report {
  readonly success: boolean
  readonly imported: number
  readonly errors: number
  readonly details: readonly { readonly row: number; readonly line?: number; readonly error: string }[]
  readonly detailsTruncated?: boolean
}

const KINDS: { readonly [extension: string]: string } = {
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  jsonl: 'application/x-ndjson',
  csv: 'text/csv',
}

/** A file of entities, dropped here, becomes entities with an event each; what is wrong is told row by row. */
export function ImportPage() {
  const id = useId()
  const open = [...nouns.value.values()].filter(
    (noun) => mayChange(noun) && noun.name !== 'ApiKey' && noun.name !== 'Webhook',
  )
  const [type, setType] = useState(place.value.query.get('type') ?? 'Contact')
  const [dryRun, setDryRun] = useState(false)
  const [upsert, setUpsert] = useState('')
  const [sent, setSent] = useState<number | null>(null)
  const [report, setReport] = useState<(Report & { readonly file: string; readonly wasDry: boolean }) | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const [over, setOver] = useState(false)
  const picker = useRef<HTMLInputElement>(null)
  useKeys({ Escape: () => go([]) })
  const uniques = Object.values(nouns.value.get(type)?.fields ?? {}).filter(
    (field) => (field as Field & { index?: string }).index === 'unique',
  )
  const take = async (file: File | undefined) => {
    if (!file) return
    setReport(null)
    setError(null)
    try {
      const answer = await upload(file, `/import/${type}`, { dryRun: dryRun || null, upsert: upsert || null }, setSent)
      setReport({ ...answer, file: file.name, wasDry: dryRun })
    } catch (reason) {
      setError(reason as Error)
    }
    setSent(null)
  }
  if (asOf.value !== null) {
    return (
      <>
        <Head title="Import" />
        <Empty>The past takes no imports. Come back to now first.</Empty>
      </>
    )
  }
  return (
    <>
      <Head title="Import" about="JSON, NDJSON or CSV, also gzipped. Good rows go in; bad ones are listed." />
      <section class="panel">
        <div class="form-grid">
          <Labelled label="Type" for={`${id}-type`}>
            <select id={`${id}-type`} value={type} onChange={(event) => setType(event.currentTarget.value)}>
              {open.map(({ name }) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </Labelled>
          <Labelled label="When it is there already" for={`${id}-upsert`}>
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
        <label class="check">
          <input type="checkbox" checked={dryRun} onChange={(event) => setDryRun(event.currentTarget.checked)} /> Dry
          run: check every row, write nothing
        </label>
        <fieldset
          class={`drop${over ? ' over' : ''}`}
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
          <p>Drop a file here</p>
          <button type="button" onClick={() => picker.current?.click()} disabled={sent !== null}>
            Choose a file
          </button>
          <input
            ref={picker}
            type="file"
            hidden
            aria-label="File to import"
            accept=".json,.ndjson,.jsonl,.csv,.gz"
            onChange={(event) => void take(event.currentTarget.files?.[0])}
          />
        </fieldset>
        {sent !== null && <progress aria-label="Sent" max={1} value={sent} />}
        <Trouble error={error} />
      </section>
      {report && <Outcome report={report} />}
    </>
  )
}

function Outcome({ report }: { report: Report & { readonly file: string; readonly wasDry: boolean } }) {
  const rejected = () =>
    keep(
      new Blob([JSON.stringify(report.details, null, 2)], { type: 'application/json' }),
      `${report.file}.rejected.json`,
    )
  return (
    <section class="panel" role="status">
      <h2>{report.file}</h2>
      <dl class="numbers">
        <div>
          <dt>{report.wasDry ? 'Would be imported' : 'Imported'}</dt>
          <dd>{numberText(report.imported)}</dd>
        </div>
        <div>
          <dt>Rejected</dt>
          <dd>{numberText(report.errors)}</dd>
        </div>
      </dl>
      {!report.success && <p class="trouble">The file was not read to its end.</p>}
      {report.details.length > 0 && (
        <>
          <Scroll label="Rejected rows">
            <table class="grid">
              <thead>
                <tr>
                  <th scope="col">Row</th>
                  <th scope="col">What is wrong</th>
                </tr>
              </thead>
              <tbody>
                {report.details.slice(0, 100).map((detail) => (
                  <tr key={`${detail.row} ${detail.error}`}>
                    <td>{detail.line === undefined ? detail.row : `${detail.row} (line ${detail.line})`}</td>
                    <td class="wrap">{detail.error}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
          <button type="button" onClick={rejected}>
            Download all {numberText(report.details.length)}
          </button>
        </>
      )}
    </section>
  )
}

/** Sends a file and tells how much of it is under way; fetch cannot tell that. */
function upload(
  file: File,
  path: string,
  query: { [name: string]: string | boolean | null },
  onSent: (part: number) => void,
): Promise<Report> {
  const mine = session.value!
  const [, extension = 'json', gz] = /\.(\w+?)(\.gz)?$/i.exec(file.name) ?? []
  return new Promise((done, failed) => {
    const request = new XMLHttpRequest()
    request.open('POST', address(mine, path, query))
    request.setRequestHeader('authorization', `Bearer ${mine.key}`)
    request.setRequestHeader('content-type', KINDS[extension.toLowerCase()] ?? 'application/json')
    if (gz) request.setRequestHeader('content-encoding', 'gzip')
    request.upload.onprogress = ({ loaded, total }) => onSent(total === 0 ? 0 : loaded / total)
    request.onload = () => {
      if (request.status < 400) done(JSON.parse(request.responseText))
      else failed(refused(request.status, request.responseText))
    }
    request.onerror = () => failed(new Error('The connection broke while the file was sent.'))
    onSent(0)
    request.send(file)
  })
}
