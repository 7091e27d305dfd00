import { useId, useState } from 'preact/hooks'
import { address, send } from '../api.ts'
import { useKeys } from '../keyboard.ts'
import { Act, Copyable, Empty, Head, JsonText, Labelled, Trouble } from '../parts/basics.tsx'
import { asOf, go } from '../place.ts'
import { nouns } from '../schema.ts'
import { session } from '../session.ts'

const EXAMPLES: readonly {
  readonly label: string
  readonly type: string
  readonly filter: string
  readonly include?: string
  readonly sort?: string
}[] = [
  { label: 'Leads by name', type: 'Contact', filter: '{"stage": "Lead"}', sort: 'name' },
  {
    label: 'Large open deals',
    type: 'Deal',
    filter: '{"value": {"$gte": 10000}, "stage": {"$nin": ["Won", "Lost", "Closed"]}}',
    include: 'organization,contact',
    sort: '-value',
  },
  {
    label: 'Deals of one industry',
    type: 'Deal',
    filter: '{"organization.industry": "Healthcare"}',
    include: 'organization',
  },
  {
    label: 'Changed in the last week',
    type: 'Contact',
    filter: '{"$updatedAt": {"$gte": "7d ago"}}',
    sort: '-$updatedAt',
  },
]

interface Outcome {
  readonly ms: number
  readonly body: unknown
}

/** A place to try the query language. */
export function QueryPage() {
  const id = useId()
  const [type, setType] = useState('Contact')
  const [filter, setFilter] = useState('{"stage": "Lead"}')
  const [sort, setSort] = useState('')
  const [include, setInclude] = useState('')
  const [fields, setFields] = useState('')
  const [limit, setLimit] = useState('10')
  const [outcome, setOutcome] = useState<Outcome | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const query = {
    filter: isJson(filter) ? JSON.stringify(JSON.parse(filter)) : filter,
    sort,
    include,
    fields,
    limit,
    asOf: asOf.value,
  }
  const url = address(session.value!, `/${type}`, query)
  const run = async () => {
    const started = performance.now()
    try {
      const response = await send('GET', `/${type}`, { query })
      setOutcome({ body: await response.json(), ms: performance.now() - started })
      setError(null)
    } catch (reason) {
      setOutcome(null)
      setError(reason as Error)
    }
  }
  useKeys({ 'mod+Enter': () => void run(), 'mod+s': () => void run(), Escape: () => go([]) })
  const text = (label: string, value: string, set: (value: string) => void, hint: string) => (
    <Labelled label={label} for={`${id}-${label}`}>
      <input
        id={`${id}-${label}`}
        class="code"
        value={value}
        placeholder={hint}
        onInput={(event) => set(event.currentTarget.value)}
      />
    </Labelled>
  )
  return (
    <>
      <Head title="Query" about="Try the query language on the tenant's own data">
        <Act class="primary" onRun={run}>
          Run
        </Act>
      </Head>
      <p class="examples">
        {EXAMPLES.filter((one) => nouns.value.has(one.type)).map((one) => (
          <button
            type="button"
            class="chip"
            key={one.label}
            onClick={() => {
              setType(one.type)
              setFilter(one.filter)
              setInclude(one.include ?? '')
              setSort(one.sort ?? '')
            }}
          >
            {one.label}
          </button>
        ))}
      </p>
      <div class="split">
        <section class="panel" aria-label="Question">
          <Labelled label="Type" for={`${id}-type`}>
            <select id={`${id}-type`} value={type} onChange={(event) => setType(event.currentTarget.value)}>
              {[...nouns.value.keys()].map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </Labelled>
          <Labelled label="Filter" for={`${id}-filter`} error={isJson(filter) ? undefined : 'This is not JSON yet.'}>
            <textarea
              id={`${id}-filter`}
              class="code"
              rows={6}
              spellcheck={false}
              value={filter}
              onInput={(event) => setFilter(event.currentTarget.value)}
            />
          </Labelled>
          <div class="form-grid">
            {text('Sort', sort, setSort, '-value,name')}
            {text('Include', include, setInclude, 'organization,deals')}
            {text('Fields', fields, setFields, 'all')}
            {text('Limit', limit, setLimit, '25')}
          </div>
          <h2>Request</h2>
          <Copyable
            text={`curl '${url}' \\\n  -H "Authorization: Bearer $TILDE_KEY"`}
            label="The request as a command"
          />
        </section>
        <section class="panel">
          <h2>Answer {outcome && <span class="unit">{Math.round(outcome.ms)} ms</span>}</h2>
          <Trouble error={error} />
          {!outcome && !error && <Empty>Ctrl Enter runs it.</Empty>}
          {outcome && <JsonText value={outcome.body} label="Answer" />}
        </section>
      </div>
    </>
  )
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text || '{}') === 'object'
  } catch {
    return false
  }
}
