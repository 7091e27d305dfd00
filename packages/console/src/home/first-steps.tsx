import { useEffect, useState } from 'preact/hooks'
import { href, look, place } from '../place.ts'
import { mayChange, mayDeclare, mayWrite } from '../service/access.ts'
import { invalidate } from '../service/cache.ts'
import { nouns } from '../service/schema.ts'
import { session } from '../service/session.ts'
import { EmptyState, Failure } from '../ui/states.tsx'
import { loadActors } from '../values/actors.ts'
import { singular } from '../values/noun.ts'

/** What to do first in a tenant without entities. */
export function FirstSteps() {
  const noun = nouns.value.get('Contact')
  const [isFilling, setFilling] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const canFill = mayDeclare() && session.value?.csrf === undefined
  const fill = async () => {
    setFilling(true)
    setError(null)
    try {
      await fillWithSample()
    } catch (reason) {
      setError(reason as Error)
    }
    setFilling(false)
  }
  useEffect(() => {
    // The key box was asked for a tenant with sample data.
    if (place.value.query.get('sample') === null) return
    look({ sample: null })
    if (canFill) void fill()
  }, [])
  return (
    <EmptyState icon="star" title={isFilling ? 'Writing two years of a company…' : 'Nothing is here yet'}>
      {canFill && (
        <button type="button" class="primary" aria-busy={isFilling} disabled={isFilling} onClick={() => void fill()}>
          Fill with sample data
        </button>
      )}
      {mayChange(noun) && (
        <a class="button" href={href(['Contact'], { new: '1' })}>
          Create the first {noun ? singular(noun) : 'entity'}
        </a>
      )}
      {mayWrite() && (
        <a class="button" href={href(['import'])}>
          Import a file
        </a>
      )}
      <a class="button" href={href(['agent'])}>
        Connect an agent
      </a>
      <Failure error={error} />
    </EmptyState>
  )
}

/** Writes the company of the demo into this tenant, with its past, so that the control of time has something to show. */
async function fillWithSample(): Promise<void> {
  const mine = session.value
  if (!mine) return
  const { fillWithDemo } = await import('@tildebase/client/demo')
  await fillWithDemo({ baseUrl: location.origin, tenant: mine.tenant, apiKey: mine.key }, Date.now())
  await loadActors()
  invalidate(new Set(['*']))
}
