import type { EventProof } from '@tildebase/client'
import { useState } from 'preact/hooks'
import { saveFile } from '../list/export/save-file.ts'
import { useData } from '../service/cache.ts'
import { request, send } from '../service/service.ts'
import { t } from '../texts/text.ts'
import { say, sayError } from '../toast.ts'
import { Act } from '../ui/basics.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { Failure, Skeleton } from '../ui/states.tsx'
import { numberText } from '../values/format.ts'

/** A button that shows the proof of an event, by its id or its seq. */
export function Seal({ event }: { event: string }) {
  const [open, setOpen] = useState(false)
  return (
    <>
      <button type="button" class="quiet" onClick={() => setOpen(true)}>
        <Icon name="seal" /> {t('Proof')}
      </button>
      {open && <ProofDialog event={event} onClose={() => setOpen(false)} />}
    </>
  )
}

/** What is proved about an event, in plain words, and the proof as a file that checks itself. */
export function ProofDialog({ event, onClose }: { event: string; onClose: () => void }) {
  const found = useData<EventProof>(['proof', event], (signal) => request('GET', `/proof/${event}`, { signal }))
  const proof = found.value
  const download = async () => {
    const response = await send('GET', `/proof/${event}`, { query: { format: 'html' } })
    saveFile(await response.blob(), `proof-${proof!.event}.html`)
    say(t('The proof is in your downloads. Open it in any browser: it checks itself, also offline.'))
  }
  return (
    <Dialog title={t('Proof of this event')} onClose={onClose}>
      <Failure error={found.error} onRetry={found.reload} />
      {!proof && !found.error && <Skeleton rows={4} />}
      {proof && <Explanation proof={proof} />}
      {proof && (
        <footer>
          <Act class="primary" onRun={() => download().catch(sayError)}>
            {t('Download the proof')}
          </Act>
        </footer>
      )}
    </Dialog>
  )
}

function Explanation({ proof }: { proof: EventProof }) {
  const [origin] = proof.checkpoint!.split('\n', 1)
  const witnesses = [...proof.checkpoint!.matchAll(/^— (\S+)/gm)]
    .map(([, name]) => name!)
    .filter((name) => name !== origin)
  return (
    <div class="proof">
      <p>
        {t('This is event')} <b>{numberText(proof.seq)}</b> {t('of')} <b>{numberText(proof.size)}</b>{' '}
        {t('in the signed history of')} <b>{origin}</b>.
      </p>
      <p>
        {t(
          'What happened, when, by whom and in which order is sealed. If this event is changed, removed or moved, the history no longer matches the signature, and this proof shows it.',
        )}
      </p>
      <p>{valuesText(proof)}</p>
      <p>
        {witnesses.length === 0
          ? t('No witness has cosigned this history: you rely on the service to show the same one to all.')
          : t('Cosigned by {}: others have seen the same history.', witnesses.join(', '))}
      </p>
      <p class="hint">{t('The proof does not say that what was recorded is true, or that the clock was right.')}</p>
    </div>
  )
}

function valuesText({ entry }: EventProof): string {
  if (entry.salt !== null) return t('The proof contains the values as they were recorded.')
  return t('The proof does not contain the values: they were erased, or your key does not see all of them.')
}
