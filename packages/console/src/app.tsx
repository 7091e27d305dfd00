import { useEffect, useState } from 'preact/hooks'
import { loadAccess } from './access.ts'
import { loadActors } from './actors.ts'
import { useKeys } from './keyboard.ts'
import { AgentPage } from './pages/agent.tsx'
import { EntitiesPage } from './pages/entities.tsx'
import { EntityPage } from './pages/entity.tsx'
import { EventsPage } from './pages/events.tsx'
import { HomePage } from './pages/home.tsx'
import { ImportPage } from './pages/import.tsx'
import { KeysPage } from './pages/keys.tsx'
import { MetricsPage } from './pages/metrics.tsx'
import { QueryPage } from './pages/query.tsx'
import { WebhooksPage } from './pages/webhooks.tsx'
import { Empty, Trouble } from './parts/basics.tsx'
import { Help } from './parts/help.tsx'
import { KeyBox, Tilde } from './parts/key-box.tsx'
import { Notes } from './parts/notes.tsx'
import { Side } from './parts/side.tsx'
import { PastBanner, TimeBar } from './parts/time-bar.tsx'
import { VerbDialog } from './parts/verbs.tsx'
import { asOf, place } from './place.ts'
import { loadNouns, nouns } from './schema.ts'
import { session } from './session.ts'
import { useAnswer } from './use.ts'

const PAGES: { readonly [path: string]: () => preact.ComponentChild } = {
  metrics: MetricsPage,
  events: EventsPage,
  query: QueryPage,
  agent: AgentPage,
  import: ImportPage,
  webhooks: WebhooksPage,
  keys: KeysPage,
}

/** The console: the key box, or the tenant that the key opens. */
export function App() {
  const mine = session.value
  // Another key is another page: nothing that was loaded with the one before is left.
  return mine ? <Tenant key={`${mine.tenant} ${mine.key}`} /> : <KeyBox />
}

function Tenant() {
  const [help, setHelp] = useState(false)
  const [menu, setMenu] = useState(false)
  const ready = useAnswer(async () => {
    await loadNouns()
    await loadAccess()
    await loadActors()
    return true
  }, [])
  const { path, tenant } = place.value
  // A choice in the menu is the end of choosing.
  useEffect(() => setMenu(false), [path])
  useEffect(() => {
    document.title = [...path.slice(0, 1), `~${tenant}`, 'Tildebase'].join(' · ')
    document.documentElement.toggleAttribute('data-past', asOf.value !== null)
  })
  useKeys({
    '?': () => setHelp(true),
    t: () => document.querySelector<HTMLElement>('.time-bar input[type=range]')?.focus(),
  })
  return (
    <div class={`frame${menu ? ' menu-open' : ''}`}>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        To the content
      </button>
      <Side />
      {menu && <button type="button" class="veil" aria-label="Close the menu" onClick={() => setMenu(false)} />}
      <div class="stage">
        <header class="top">
          <button
            type="button"
            class="quiet burger"
            aria-label="Menu"
            aria-expanded={menu}
            aria-controls="side"
            onClick={() => setMenu(!menu)}
          >
            <Tilde />
          </button>
          <TimeBar />
          <button type="button" class="quiet" aria-label="Keyboard help" onClick={() => setHelp(true)}>
            ?
          </button>
        </header>
        <PastBanner />
        <main id="main" tabIndex={-1}>
          <Trouble error={ready.error} />
          {ready.value && <CurrentPage />}
        </main>
      </div>
      <VerbDialog />
      <Notes />
      {help && <Help onClose={() => setHelp(false)} />}
    </div>
  )
}

function CurrentPage() {
  const [first, id] = place.value.path
  if (first === undefined) return <HomePage />
  const Page = Object.hasOwn(PAGES, first) ? PAGES[first] : undefined
  if (Page) return <Page />
  const noun = nouns.value.get(first)
  if (!noun) return <Empty>There is no {first} in this tenant.</Empty>
  return id === undefined ? <EntitiesPage key={first} noun={noun} /> : <EntityPage key={id} noun={noun} id={id} />
}
