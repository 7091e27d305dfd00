import { may, mayWrite } from '../access.ts'
import { labelOf } from '../format.ts'
import { href, place } from '../place.ts'
import { byDomain, nouns } from '../schema.ts'
import { leave, session } from '../session.ts'
import { Tilde } from './key-box.tsx'

/** The pages that are not types. */
const PAGES: readonly { readonly path: string; readonly label: string; readonly shown?: () => boolean }[] = [
  { path: 'metrics', label: 'Metrics' },
  { path: 'events', label: 'Events' },
  { path: 'query', label: 'Query' },
  { path: 'agent', label: 'Agents' },
  { path: 'import', label: 'Import', shown: mayWrite },
  { path: 'webhooks', label: 'Webhooks', shown: () => may('read', nouns.value.get('Webhook')) },
  { path: 'keys', label: 'API keys', shown: () => may('read', nouns.value.get('ApiKey')) },
]

/** The way around. */
export function Side() {
  const here = place.value.path[0] ?? ''
  const types = [...nouns.value.values()].filter(
    (noun) => may('read', noun) && noun.name !== 'ApiKey' && noun.name !== 'Webhook',
  )
  return (
    <nav class="side" id="side" aria-label="Console">
      <a class="brand" href={href([])} aria-current={here === '' ? 'page' : undefined}>
        <Tilde />
        <span>{session.value?.tenant}</span>
      </a>
      <ul>
        {PAGES.filter(({ shown }) => !shown || shown()).map(({ path, label }) => (
          <Entry key={path} to={href([path])} label={label} isHere={here === path} />
        ))}
      </ul>
      {byDomain(types).map(([domain, group]) => (
        <details key={domain} open={domain === 'crm' || group.some(({ name }) => name === here)}>
          <summary>{labelOf(domain)}</summary>
          <ul>
            {group.map((noun) => (
              <Entry key={noun.name} to={href([noun.name])} label={labelOf(noun.path)} isHere={noun.name === here} />
            ))}
          </ul>
        </details>
      ))}
      <button type="button" class="quiet leave" onClick={() => leave()}>
        Leave
      </button>
    </nav>
  )
}

function Entry({ to, label, isHere }: { to: string; label: string; isHere: boolean }) {
  return (
    <li>
      <a href={to} aria-current={isHere ? 'page' : undefined}>
        {label}
      </a>
    </li>
  )
}
