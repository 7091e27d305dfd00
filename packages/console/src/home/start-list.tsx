import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { asOf, href, look, place } from '../place.ts'
import { preferences } from '../preferences.ts'
import { mayAdminister, mayChange, mayDeclare, mayWrite, personId } from '../service/access.ts'
import { invalidate } from '../service/cache.ts'
import { nouns } from '../service/schema.ts'
import { session } from '../service/session.ts'
import { mayConfigure, setting } from '../service/settings.ts'
import { saveSetting } from '../settings/save-setting.ts'
import { t } from '../texts/text.ts'
import { sayError } from '../toast.ts'
import { Act } from '../ui/basics.tsx'
import { Icon } from '../ui/icon.tsx'
import { EmptyState, Failure } from '../ui/states.tsx'
import { loadActors } from '../values/actors.ts'
import { numberText } from '../values/format.ts'
import { singular } from '../values/noun.ts'

interface Step {
  readonly title: string
  readonly about: string
  readonly to: string
  readonly isDone: boolean
}

/** The setting that says that the list is hidden for everyone. */
const HIDDEN = 'startList'

const isFilling = signal(false)
const failure = signal<Error | null>(null)

/** What to do first in a tenant, ticked by what the tenant has. It goes when all is done or someone hides it. */
export function StartList({ counts }: { counts: ReadonlyMap<string, number> }) {
  const isEmpty = hasNothing(counts)
  const canFill = isEmpty && mayDeclare() && session.value?.csrf === undefined
  useEffect(() => {
    // The key box was asked for a tenant with sample data.
    if (place.value.query.get('sample') === null) return
    look({ sample: null })
    if (canFill) void fill()
  }, [])
  const steps = stepsOf(counts, isEmpty)
  const done = steps.filter(({ isDone }) => isDone).length
  const isOver = setting(HIDDEN) !== null || done === steps.length
  if (!mayConfigure() || asOf.value !== null) return isEmpty ? <Nothing /> : null
  if (isOver && !isFilling.value) return isEmpty ? <Nothing /> : null
  return (
    <section class="panel start-list" aria-labelledby="start-title">
      <div class="panel-head">
        <h2 id="start-title">{t('Start here')}</h2>
        <span class="hint">{t('{} of {} done', numberText(done), numberText(steps.length))}</span>
        <Act class="quiet" onRun={() => saveSetting(HIDDEN, 'hidden', t('The list is hidden.')).catch(sayError)}>
          {t('Hide this list')}
        </Act>
      </div>
      {canFill && (
        <p class="sample">
          <span>{t('Look around first: sample data is a company with two years of history.')}</span>
          <Act class="primary" onRun={fill}>
            {isFilling.value ? t('Writing two years of a company…') : t('Fill with sample data')}
          </Act>
        </p>
      )}
      <Failure error={failure.value} />
      <ol>
        {steps.map(({ title, about, to, isDone }) => (
          <li key={title} class={isDone ? 'done' : ''}>
            <span class="tick" role="img" aria-label={isDone ? t('Done') : t('Open')}>
              {isDone && <Icon name="check" />}
            </span>
            <a href={to}>{title}</a>
            <span class="hint">{about}</span>
          </li>
        ))}
      </ol>
    </section>
  )
}

/** Whether a tenant has no entities. The log of a new one has the creation of its key already. */
function hasNothing(counts: ReadonlyMap<string, number>): boolean {
  return [...counts].every(([type, count]) => count === 0 || type === 'Event' || type === 'User')
}

function stepsOf(counts: ReadonlyMap<string, number>, isEmpty: boolean): Step[] {
  const people = counts.get('User') ?? 0
  const slider = new Date(Date.now() - 30 * 86_400_000).toISOString()
  return [
    {
      title: t('Give your company its name'),
      about: t('It is shown at the top of every page.'),
      to: href(['settings']),
      isDone: setting('name') !== null,
    },
    {
      title: t('Choose your currency'),
      about: t('Amounts without a currency of their own are in this one.'),
      to: href(['settings']),
      isDone: setting('currency') !== null,
    },
    ...(mayAdminister('User')
      ? [
          {
            title: t('Invite your people'),
            about: t('They sign in with their own account and own their work.'),
            to: href(['people']),
            isDone: people > (personId() === null ? 0 : 1),
          },
        ]
      : []),
    ...(mayWrite()
      ? [
          {
            title: t('Import what you have'),
            about: t('Contacts, companies or deals from a CSV file; you can take it back.'),
            to: href(['import']),
            isDone: !isEmpty,
          },
        ]
      : []),
    {
      title: t('Move the time slider'),
      about: t('Every page then shows what was true at that moment.'),
      to: href([], { asOf: slider }),
      isDone: preferences.value.hasTravelled,
    },
  ]
}

/** A tenant without entities, for people who do not set it up. */
function Nothing() {
  const noun = nouns.value.get('Contact')
  return (
    <EmptyState icon="star" title={t('Nothing is here yet')}>
      {mayChange(noun) && (
        <a class="button" href={href(['Contact'], { new: '1' })}>
          {t('Create the first {}', noun ? singular(noun) : t('entry'))}
        </a>
      )}
      {mayWrite() && (
        <a class="button" href={href(['import'])}>
          {t('Import a file')}
        </a>
      )}
    </EmptyState>
  )
}

/** Writes the company of the demo into this tenant, with its past, so that the control of time has something to show. */
async function fill(): Promise<void> {
  const mine = session.value
  if (!mine || isFilling.value) return
  isFilling.value = true
  failure.value = null
  try {
    const { fillWithDemo } = await import('@tildebase/client/demo')
    await fillWithDemo({ baseUrl: location.origin, tenant: mine.tenant, apiKey: mine.key }, Date.now())
    await loadActors()
    invalidate(new Set(['*']))
  } catch (reason) {
    failure.value = reason as Error
  }
  isFilling.value = false
}
