import { useMemo, useRef, useState } from 'preact/hooks'
import { useKeys } from '../keyboard.ts'
import { State } from '../parts/value.tsx'
import { go, href } from '../place.ts'
import { keyId, mayApproveOwn } from '../service/access.ts'
import { useData, useSettled } from '../service/cache.ts'
import { may } from '../service/rights.ts'
import { nouns } from '../service/schema.ts'
import { request } from '../service/service.ts'
import { sayDone, undo, write } from '../service/write.ts'
import { t } from '../texts/text.ts'
import { say, sayError } from '../toast.ts'
import { Act, Head } from '../ui/basics.tsx'
import { JsonText } from '../ui/json-text.tsx'
import { Failure, Skeleton } from '../ui/states.tsx'
import { actorName } from '../values/actors.ts'
import { agoText, numberText } from '../values/format.ts'
import { linesOf, type Reviewed } from './changeset.ts'
import { Conflicts } from './conflicts.tsx'
import { EffectPanel } from './effect.tsx'
import { RejectDialog } from './reject-dialog.tsx'
import { ReviewList } from './review-list.tsx'
import { Talk } from './talk.tsx'

/** A changeset to decide on: what it changes, its conflicts, its effect on metrics, and comments. */
export function ReviewPage({ id }: { id: string }) {
  const found = useData<Reviewed>(['changeset', id], (signal) => request('GET', `/changesets/${id}`, { signal }), {
    types: ['*'],
  })
  if (!found.value) return found.error ? <Failure error={found.error} onRetry={found.reload} /> : <Skeleton rows={10} />
  return <Review key={id} changeset={found.value} reload={found.reload} />
}

function Review({ changeset, reload }: { changeset: Reviewed; reload: () => void }) {
  const { $id: id, state, conflicts, author } = changeset
  const numbers = useMemo(() => changeset.operations.map(({ number }) => number), [changeset.operations])
  const [left, setLeft] = useState<ReadonlySet<number>>(new Set())
  const [active, setActive] = useState(0)
  const [words, setWords] = useState('')
  const [onlyConflicts, setOnlyConflicts] = useState(false)
  const [rejecting, setRejecting] = useState(false)
  const settled = useSettled(words.trim(), 150)
  const lines = useMemo(
    () => linesOf(changeset, { words: settled, onlyConflicts }),
    [changeset, settled, onlyConflicts],
  )
  const chosen = useMemo(() => new Set(numbers.filter((number) => !left.has(number))), [numbers, left])
  const isOpen = state === 'Open'
  const isOwn = author === keyId()
  const writesAll = (changeset.types ?? []).every((type) => may('write', nouns.value.get(type)))
  const canApprove = isOpen && writesAll && (!isOwn || mayApproveOwn())
  // No state: a second key may come before the next drawing.
  const decision = useRef({ isSent: false, version: 0 })
  /** Whether a decision is being sent, or is made and not yet on the page. */
  const isDecided = () => decision.current.isSent || changeset.$version < decision.current.version
  const send = async (verb: string, body: object) => {
    decision.current.isSent = true
    try {
      // Its author may have added to it: an approval is of what the page shows.
      const version = verb === 'approve' ? changeset.$version : undefined
      const { value } = await write<Reviewed>({ path: `/changesets/${id}/${verb}`, body, version, type: '*' })
      decision.current.version = value.$version
    } finally {
      decision.current.isSent = false
      reload()
    }
  }
  const decide = async (verb: string, body: object, done?: string) => {
    if (isDecided()) return
    try {
      await send(verb, body)
      if (done !== undefined) sayDone(done, id)
    } catch (reason) {
      sayError(reason)
    }
  }
  const hasChosen = chosen.size > 0 && (conflicts.length === 0 || chosen.size < numbers.length)
  const approve = () => {
    const isPart = chosen.size < numbers.length
    const done = chosen.size === 1 ? t('1 change approved.') : t('{} changes approved.', numberText(chosen.size))
    return decide('approve', isPart ? { operations: [...chosen] } : {}, done)
  }
  const askToReject = () => isDecided() || setRejecting(true)
  const choose = (number: number) => {
    const next = new Set(left)
    if (!next.delete(number)) next.add(number)
    setLeft(next)
  }
  const move = (step: 1 | -1) => {
    for (let at = active + step; at >= 0 && at < lines.length; at += step) {
      if (lines[at]!.kind === 'operation') return setActive(at)
    }
  }
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    x: () => {
      const line = lines[active]
      if (isOpen && line?.kind === 'operation') choose(line.number)
    },
    a: () => canApprove && hasChosen && void approve(),
    r: () => isOpen && askToReject(),
    c: () => document.querySelector<HTMLElement>('.changeset-comment')?.focus(),
    Escape: () => go(['changesets']),
  })
  return (
    <>
      <Head
        title={changeset.title}
        about={
          <>
            <State value={state} /> {t('proposed by {} {}', actorName(author), agoText(changeset.$createdAt))}
            {changeset.reviewer && <>{t(', decided by {}', actorName(changeset.reviewer))}</>}
            {changeset.from && <>{t(', from the fork {}', changeset.from)}</>}
          </>
        }
      >
        <a class="button" href={href(['changesets'])}>
          {t('All proposals')}
        </a>
        {state === 'Approved' && (
          <Act icon="undo" onRun={() => undo(id)}>
            {t('Undo')}
          </Act>
        )}
        {isOpen && (
          <button type="button" class="danger" title={t('Reject (r)')} onClick={askToReject}>
            {t('Reject…')}
          </button>
        )}
        {canApprove && (
          <Act
            class="primary"
            icon="check"
            onRun={approve}
            disabled={!hasChosen}
            title={
              conflicts.length > 0
                ? t('Decide the conflicts first, or choose the changes to approve')
                : t('Approve (a)')
            }
          >
            {chosen.size === numbers.length
              ? t('Approve')
              : t('Approve {} of {}', numberText(chosen.size), numberText(numbers.length))}
          </Act>
        )}
      </Head>
      {isOpen && isOwn && !mayApproveOwn() && <p class="about">{t('You proposed this: another key approves it.')}</p>}
      {changeset.reason && (
        <p class="changeset-reason" dir="auto">
          {changeset.reason}
        </p>
      )}
      {rejecting && (
        <RejectDialog
          title={changeset.title}
          onReject={async (reason) => {
            await send('reject', reason === '' ? {} : { reason })
            say(t('{} rejected.', changeset.title))
            setRejecting(false)
          }}
          onClose={() => setRejecting(false)}
        />
      )}
      {changeset.approved && (
        <p class="notice" role="status">
          {t(
            '{} of {} changes were approved. The others are marked as left out.',
            numberText(changeset.approved.length),
            numberText(numbers.length),
          )}
        </p>
      )}
      <div class="review">
        <div class="review-main">
          <div class="toolbar review-tools">
            <input
              type="search"
              aria-label={t('Find in the changes')}
              placeholder={t('Find in the changes')}
              value={words}
              onInput={(event) => setWords(event.currentTarget.value)}
            />
            {conflicts.length > 0 && (
              <label>
                <input type="checkbox" checked={onlyConflicts} onChange={() => setOnlyConflicts(!onlyConflicts)} />{' '}
                {t('Only conflicts')}
              </label>
            )}
            {isOpen && (
              <button type="button" onClick={() => setLeft(left.size > 0 ? new Set() : new Set(numbers))}>
                {left.size > 0 ? t('Select all') : t('Select none')}
              </button>
            )}
            <span class="review-count" aria-live="polite">
              {numbers.length === 1 ? t('1 change') : t('{} changes', numberText(numbers.length))}
            </span>
          </div>
          <ReviewList
            lines={lines}
            active={active}
            chosen={chosen}
            canChoose={isOpen}
            approved={changeset.approved ?? null}
            onChoose={choose}
            onActive={setActive}
          />
          <p class="hint keys">
            <kbd>j</kbd> <kbd>k</kbd> {t('move,')} <kbd>x</kbd> {t('choose,')} <kbd>a</kbd> {t('approve,')} <kbd>r</kbd>{' '}
            {t('reject,')} <kbd>c</kbd> {t('comment,')} <kbd>Esc</kbd> {t('back')}
          </p>
        </div>
        <div class="review-side">
          {isOpen && conflicts.length > 0 && (isOwn || writesAll) && (
            <Conflicts {...changeset} onRebase={(choices) => decide('rebase', choices)} />
          )}
          {isOpen && <EffectPanel id={id} types={changeset.types ?? []} />}
          <Talk id={id} comments={changeset.comments ?? []} canWrite={may('write', nouns.value.get('Changeset'))} />
          {changeset.source && (
            <details class="panel">
              <summary>{t('What proposed it')}</summary>
              <pre class="changeset-source">{changeset.source}</pre>
            </details>
          )}
          <Operations all={changeset.operations} />
        </div>
      </div>
    </>
  )
}

/** All operations in full. The list of changes shows one line of each value; these are drawn when they are asked for. */
function Operations({ all }: { all: Reviewed['operations'] }) {
  const [isShown, setShown] = useState(false)
  return (
    <details class="panel" onToggle={(event) => setShown(event.currentTarget.open)}>
      <summary>{t('Changes as data')}</summary>
      {isShown && <JsonText label={t('All changes')} value={all} />}
    </details>
  )
}
