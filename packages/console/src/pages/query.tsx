import '../../style/pages/code.css'
import { useId, useState } from 'preact/hooks'
import { useKeys } from '../keyboard.ts'
import { Editor } from '../parts/forms/editor.tsx'
import { completeQuery } from '../parts/frame/complete-query.ts'
import { ResultTable } from '../parts/result-table.tsx'
import { asOf, look, place } from '../place.ts'
import { may } from '../service/rights.ts'
import { nouns, type Page } from '../service/schema.ts'
import { addressOf, request } from '../service/service.ts'
import { t } from '../texts/text.ts'
import { Act, Head, Labelled, Tabs } from '../ui/basics.tsx'
import { Copyable, JsonText } from '../ui/json-text.tsx'
import { EmptyState, Failure } from '../ui/states.tsx'
import { labelOf, numberText } from '../values/format.ts'

const EXAMPLES: readonly {
  readonly label: string
  readonly type: string
  readonly filter: string
  readonly include?: string
  readonly sort?: string
}[] = [
  { label: t('Leads by name'), type: 'Contact', filter: '{"stage": "Lead"}', sort: 'name' },
  {
    label: t('Large open deals'),
    type: 'Deal',
    filter: '{\n  "value": {"$gte": 10000},\n  "stage": {"$nin": ["Won", "Lost", "Closed"]}\n}',
    include: 'organization,contact',
    sort: '-value',
  },
  {
    label: t('Deals of one industry'),
    type: 'Deal',
    filter: '{"organization.industry": "Healthcare"}',
    include: 'organization',
  },
  {
    label: t('Changed in the last week'),
    type: 'Contact',
    filter: '{"$updatedAt": {"$gte": "7d ago"}}',
    sort: '-$updatedAt',
  },
]

interface Outcome {
  readonly ms: number
  readonly body: Page
  readonly type: string
}

/** A place to try the query language. The question is in the address. */
export function QueryPage() {
  const id = useId()
  const { query } = place.value
  const readable = [...nouns.value.values()].filter((noun) => may('read', noun))
  const first = readable.find(({ name }) => name === 'Contact') ?? readable[0]
  const type = query.get('of') ?? first?.name ?? ''
  const [filter, setText] = useState(query.get('filter') ?? '{}')
  const [edition, setEdition] = useState(0)
  const setFilter = (text: string) => {
    setText(text)
    look({ filter: text })
  }
  const part = (name: string) => query.get(name) ?? ''
  const [outcome, setOutcome] = useState<Outcome | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const [shape, setShape] = useState<'table' | 'json'>('table')
  const asked = {
    filter: isJson(filter) ? JSON.stringify(JSON.parse(filter || '{}')) : filter,
    sort: part('sort'),
    include: part('include'),
    fields: part('fields'),
    limit: part('limit') || '25',
    asOf: asOf.value,
  }
  const run = async () => {
    const started = performance.now()
    try {
      const filled = Object.fromEntries(Object.entries(asked).filter(([, value]) => value))
      const body = await request<Page>('GET', `/${type}`, { query: filled })
      setOutcome({ body, ms: performance.now() - started, type })
      setError(null)
    } catch (reason) {
      setOutcome(null)
      setError(reason as Error)
    }
  }
  useKeys({ 'mod+Enter': () => void run(), 'mod+s': () => void run() })
  const text = (name: string, hint: string) => (
    <Labelled label={labelOf(name)} for={`${id}-${name}`}>
      <input
        id={`${id}-${name}`}
        class="code"
        value={part(name)}
        placeholder={hint}
        onInput={(event) => look({ [name]: event.currentTarget.value || null })}
      />
    </Labelled>
  )
  return (
    <>
      <Head title={t('Query')} about={t('The query language on your own data')}>
        <Act class="primary" onRun={run}>
          {t('Run')} <kbd>Ctrl ↵</kbd>
        </Act>
      </Head>
      <p class="examples">
        {EXAMPLES.filter((one) => readable.some(({ name }) => name === one.type)).map((one) => (
          <button
            type="button"
            class="chip"
            key={one.label}
            onClick={() => {
              setText(one.filter)
              setEdition((number) => number + 1)
              look({
                of: one.type,
                filter: one.filter,
                include: one.include ?? null,
                sort: one.sort ?? null,
                fields: null,
              })
            }}
          >
            {one.label}
          </button>
        ))}
      </p>
      <div class="split">
        <section class="panel" aria-label={t('Question')}>
          <Labelled label={t('Type')} for={`${id}-type`}>
            <select id={`${id}-type`} value={type} onChange={(event) => look({ of: event.currentTarget.value })}>
              {readable.map(({ name }) => (
                <option key={name} value={name}>
                  {labelOf(name)}
                </option>
              ))}
            </select>
          </Labelled>
          <div class={`labelled${isJson(filter) ? '' : ' wrong'}`}>
            <span class="label">{t('Filter')}</span>
            <Editor
              label={t('Filter')}
              language="json"
              value={filter}
              edition={edition}
              complete={completeQuery(nouns.value.get(type))}
              onChange={setFilter}
              onRun={() => void run()}
            />
            {!isJson(filter) && <small class="error">{t('This is not JSON yet.')}</small>}
          </div>
          <div class="form-grid">
            {text('sort', '-value,name')}
            {text('include', 'organization,deals')}
            {text('fields', 'all')}
            {text('limit', '25')}
          </div>
          <h2>{t('Request')}</h2>
          <Copyable
            text={`curl '${addressOf(`/${type}`, asked)}' \\\n  -H "Authorization: Bearer $TILDE_KEY"`}
            label={t('The request as a command')}
          />
        </section>
        <section class="panel" aria-label={t('Result')}>
          <div class="panel-head">
            <h2>
              {t('Answer')}{' '}
              {outcome && (
                <span class="unit">{t('{} in {} ms', numberText(outcome.body.total), Math.round(outcome.ms))}</span>
              )}
            </h2>
            <Tabs
              label={t('Shape of the answer')}
              value={shape}
              options={[
                { value: 'table', label: t('Table'), icon: 'table' },
                { value: 'json', label: 'JSON', icon: 'code' },
              ]}
              onChange={setShape}
            />
          </div>
          <Failure error={error} />
          {!outcome && !error && <EmptyState icon="code" title={t('Ctrl Enter runs it')} />}
          {outcome && shape === 'json' && <JsonText value={outcome.body} label={t('Answer')} />}
          {outcome && shape === 'table' && (
            <ResultTable noun={nouns.value.get(outcome.type)!} rows={outcome.body.results} />
          )}
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
