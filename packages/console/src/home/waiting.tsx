import type { Ask } from '../asks/asks.ts'
import { EntityLink } from '../parts/value.tsx'
import { href } from '../place.ts'
import { personId } from '../service/access.ts'
import { useData } from '../service/cache.ts'
import { may } from '../service/rights.ts'
import { nouns, type Page } from '../service/schema.ts'
import { requestAll } from '../service/service.ts'
import { t } from '../texts/text.ts'
import { Icon } from '../ui/icon.tsx'
import { Loading } from '../ui/states.tsx'
import { actorName } from '../values/actors.ts'
import { agoText, numberText, shortText } from '../values/format.ts'

const SHOWN = 5

/** What waits for a decision or an answer: questions of workflows, proposals, and notes that mention the person. */
export function Waiting() {
  const me = personId()
  const reads = [
    { id: 'asks', path: '/asks', query: { limit: SHOWN } },
    ...(may('read', nouns.value.get('Changeset'))
      ? [{ id: 'open', path: '/Changeset', query: { filter: { state: 'Open' }, sort: '-$createdAt', limit: SHOWN } }]
      : []),
    ...(me !== null && may('read', nouns.value.get('Comment'))
      ? [
          {
            id: 'notes',
            path: '/Comment',
            query: { filter: { mentions: me }, sort: '-$createdAt', limit: SHOWN, total: false },
          },
        ]
      : []),
  ]
  // One request: browsers send six at once, and the home page has others.
  const found = useData(['waiting', reads], (signal) => requestAll(reads, signal), { types: ['*'] })
  if (!found.value && !found.error) return <Loading />
  return (
    <>
      <Questions found={found.value?.get('asks') as Page<Ask> | undefined} />
      <Proposals found={found.value?.get('open') as Page | undefined} />
      <Mentions found={found.value?.get('notes') as Page | undefined} />
    </>
  )
}

function Questions({ found }: { found: Page<Ask> | undefined }) {
  const asks = found?.results ?? []
  if (asks.length === 0) return null
  return (
    <section class="panel" aria-labelledby="asks-title">
      <div class="panel-head">
        <h2 id="asks-title">{t('Questions for you')}</h2>
        <a href={href(['asks'])}>
          {t('All {}', numberText(found?.total ?? 0))} <Icon name="right" />
        </a>
      </div>
      <ul class="lines">
        {asks.map((ask) => (
          <li key={ask.id}>
            <a href={href(['asks'])}>{ask.title}</a>
            <span class="hint">{agoText(ask.askedAt)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Proposals({ found }: { found: Page | undefined }) {
  const open = found?.results ?? []
  if (open.length === 0) return null
  return (
    <section class="panel" aria-labelledby="proposals-title">
      <div class="panel-head">
        <h2 id="proposals-title">{t('Proposals')}</h2>
        <a href={href(['changesets'])}>
          {t('All {}', numberText(found?.total ?? 0))} <Icon name="right" />
        </a>
      </div>
      <ul class="lines">
        {open.map((one) => (
          <li key={one.$id}>
            <a href={href(['changesets', one.$id])}>{String(one.title)}</a>
            <span class="hint">
              {actorName(String(one.$createdBy))} · {agoText(String(one.$createdAt))}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Mentions({ found }: { found: Page | undefined }) {
  const notes = found?.results ?? []
  if (notes.length === 0) return null
  return (
    <section class="panel" aria-labelledby="mentions-title">
      <h2 id="mentions-title">{t('Mentions of you')}</h2>
      <ul class="lines">
        {notes.map((note) => (
          <li key={note.$id}>
            <span>
              {typeof note.about === 'string' && <EntityLink to={note.about} />} {shortText(note.body, 80)}
            </span>
            <span class="hint">
              {actorName(String(note.$createdBy))} · {agoText(String(note.$createdAt))}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
