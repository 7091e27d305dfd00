import '../../style/pages/entity.css'
import { useEffect, useState } from 'preact/hooks'
import { EntityChanges } from '../compare/entity-changes.tsx'
import { keptDraft } from '../drafts.ts'
import { attach, chooseAndAttach, fileFields } from '../files/attach.ts'
import { useFileDrop } from '../files/drop.ts'
import { useKeys } from '../keyboard.ts'
import { lazy } from '../lazy.tsx'
import { hrefOfList } from '../list/look.ts'
import { ProofDialog } from '../parts/seal.tsx'
import { Star } from '../parts/star.tsx'
import { State } from '../parts/value.tsx'
import { remove } from '../parts/verbs.tsx'
import { asOf, go, goTo, place } from '../place.ts'
import { visit } from '../recent.ts'
import { mayChange } from '../service/access.ts'
import { useData, useSettled } from '../service/cache.ts'
import { may } from '../service/rights.ts'
import { nouns, type Page, titleOf } from '../service/schema.ts'
import { request, statusOf } from '../service/service.ts'
import { sayDone, write } from '../service/write.ts'
import { t } from '../texts/text.ts'
import { say, sayError } from '../toast.ts'
import { useTurns } from '../turns.ts'
import { Act, Head } from '../ui/basics.tsx'
import { Icon } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import { Failure, Loading, Skeleton } from '../ui/states.tsx'
import type { Version } from '../values/diff.ts'
import type { Entity } from '../values/entity.ts'
import { labelOf, momentText } from '../values/format.ts'
import { type Noun, singular, targetsOf, wordsOf } from '../values/noun.ts'
import { Comments } from './comments.tsx'
import { EditDialog, editDraft } from './edit-dialog.tsx'
import { Facts } from './facts.tsx'
import { RelationGraph } from './graph.tsx'
import { hasMail, Mail } from './mail.tsx'
import { Related } from './related.tsx'
import { Runs } from './runs.tsx'
import { Timeline } from './timeline.tsx'
import { Timers } from './timers.tsx'
import { furtherVerbs, VerbButtons } from './verb-buttons.tsx'

/** The fields of a workflow that its editor shows. */
const BUILT_FIELDS = ['triggerEvent', 'filter', 'schedule', 'steps', 'retryPolicy', 'errorHandling', 'timeout']
const WorkflowEditor = lazy(async () => (await import('../workflow/workflow-editor.tsx')).WorkflowEditor)

/** The fields are drawn first, then what belongs to the entity, then what people wrote about it. */
const TURNS = 3

/** One entity: its fields, what belongs to it, notes, and everything that happened to it. */
export function EntityPage({ noun, id }: { noun: Noun; id: string }) {
  const [editing, setEditing] = useState(() => mayChange(noun) && keptDraft(editDraft(id)) !== null)
  const [graph, setGraph] = useState(false)
  const [proved, setProved] = useState<string | null>(null)
  const time = useSettled(asOf.value, 150)
  const relations = Object.values(noun.fields).filter((field) => {
    return targetsOf(field).some((target) => may('read', nouns.value.get(target)))
  })
  const include = relations.map(({ name }) => name).join(',')
  const found = useData<Entity>(
    ['entity', id, time, include],
    (signal) =>
      request('GET', `/${noun.name}/${id}`, {
        query: { asOf: time ?? undefined, include: include || undefined },
        signal,
      }),
    { types: time === null ? [noun.name, ...relations.flatMap(targetsOf)] : [] },
  )
  const isGone = statusOf(found.error) === 404
  const entity = isGone ? null : found.value
  const turn = useTurns(entity ? TURNS : 1, 1, 1)
  const drop = useFileDrop(entity && ((files) => void attach(noun, entity, files)))
  const writes = mayChange(noun)
  const buildsWorkflow = writes && noun.name === 'Workflow'
  const past = useData(
    ['was', id],
    isGone ? () => request('GET', `/${noun.name}/${id}/history`, { query: { limit: 1 } }) : null,
  )
  const title = entity ? titleOf(entity, noun) : null
  useEffect(() => {
    if (title !== null) visit({ type: noun.name, id, title })
  }, [title])
  useKeys({
    Escape: () => goTo(hrefOfList(noun.name)),
    e: () => writes && entity && setEditing(true),
  })
  const rollback = async (version: Version) => {
    try {
      const change = { path: `/${noun.name}/${id}/rollback`, body: { asOf: version.timestamp }, type: noun.name }
      const { correlation } = await write({ ...change, version: entity?.$version })
      sayDone(t('It is again as it was on {}.', momentText(version.timestamp)), correlation)
    } catch (reason) {
      sayError(reason)
    }
  }
  const showProof = async () => {
    const { results } = await request<Page<Version>>('GET', `/${noun.name}/${id}/history`, { query: { limit: 1 } })
    setProved(String(results[0]!.seq))
  }
  const restore = () =>
    write({ path: `/${noun.name}/${id}/restore`, type: noun.name }).then(() => say(t('Restored.')), sayError)
  const absence = time === null ? t('Deleted') : t('Not there at that time')
  return (
    <div class={`drop-page${drop.isOver ? ' over' : ''}`} {...drop.handlers}>
      <p class="crumbs">
        <a href={hrefOfList(noun.name)}>
          <Icon name="left" /> {labelOf(noun.path)}
        </a>
      </p>
      <Head
        type={noun.name}
        title={title ?? (past.value ? absence : past.error ? t('Not found') : '…')}
        about={
          entity && (
            <>
              {noun.stateField && entity[noun.stateField] && (
                <State value={String(entity[noun.stateField])} values={wordsOf(noun.fields[noun.stateField])} />
              )}{' '}
              {t('{} · created {}', labelOf(noun.name), momentText(String(entity.$createdAt)))}
            </>
          )
        }
      >
        {entity && writes && <VerbButtons noun={noun} entity={entity} />}
        {entity && writes && noun.verbs.update && (
          <button type="button" onClick={() => setEditing(true)}>
            <Icon name="edit" /> <span class="button-label">{t('Edit')}</span>
          </button>
        )}
        {title !== null && <Star label={title} />}
        {entity && (
          <Menu
            class="icon-only"
            label={<Icon name="more" />}
            name={t('More actions')}
            items={[
              ...(writes ? furtherVerbs(noun, entity) : []),
              { label: t('Copy id'), icon: 'link', onSelect: () => copy(id) },
              ...(fileFields(noun).length > 0
                ? [{ label: t('Attach a file…'), icon: 'clip', onSelect: () => chooseAndAttach(noun, entity) } as const]
                : []),
              { label: t('Events of this entry'), icon: 'pulse', onSelect: () => go(['events'], { record: id }) },
              { label: t('Show the proof'), icon: 'seal', onSelect: () => showProof().catch(sayError) },
              {
                label: graph ? t('Hide the graph') : t('Show as a graph'),
                icon: 'share',
                onSelect: () => setGraph(!graph),
              },
              ...(writes && noun.verbs.delete
                ? [{ label: t('Delete'), icon: 'bin', danger: true, onSelect: () => remove(noun, entity) } as const]
                : []),
            ]}
          />
        )}
      </Head>
      {isGone && (past.value !== null || past.error) && (
        <div class="panel gone">
          <p>
            {time
              ? t('There was no such {} at that time.', singular(noun))
              : past.value
                ? t('This {} is deleted. What is deleted keeps its past.', singular(noun))
                : t('There never was such a {}.', singular(noun))}
          </p>
          {writes && noun.verbs.restore && past.value !== null && (
            <Act class="primary" onRun={restore}>
              {t('Restore')}
            </Act>
          )}
        </div>
      )}
      {!isGone && <Failure error={found.error} onRetry={found.reload} />}
      {!entity && !found.error && <Skeleton rows={6} />}
      {time !== null && entity && place.value.query.get('compare') !== null && (
        <EntityChanges noun={noun} id={id} time={time} />
      )}
      <div class="entity" hidden={!entity && !found.error}>
        {entity && <Facts noun={noun} entity={entity} {...(buildsWorkflow && { omit: BUILT_FIELDS })} />}
        <div class="entity-main">
          {entity && graph && (
            <section class="panel relations" aria-labelledby="relations-title">
              <h2 id="relations-title">{t('Connections')}</h2>
              <RelationGraph noun={noun} entity={entity} />
            </section>
          )}
          {entity && turn > 1 && (
            <>
              {time === null && <Timers noun={noun} id={id} />}
              {buildsWorkflow && <WorkflowEditor key={id} noun={noun} entity={entity} />}
              {time === null && noun.name === 'Workflow' && <Runs workflow={id} writes={writes} />}
              <Related noun={noun} entity={entity} />
            </>
          )}
          {entity && turn > 2 && (
            <>
              {hasMail(noun.name) && <Mail key={id} entity={entity} />}
              <Comments entity={entity} />
            </>
          )}
          {(entity ? turn < TURNS : !isGone && !found.error) && <Loading />}
          <Timeline
            type={noun.name}
            id={id}
            writes={writes && noun.verbs.rollback !== undefined && !isGone}
            onRollback={rollback}
          />
        </div>
      </div>
      {proved !== null && <ProofDialog event={proved} onClose={() => setProved(null)} />}
      {editing && entity && <EditDialog noun={noun} entity={entity} onClose={() => setEditing(false)} />}
    </div>
  )
}

async function copy(text: string): Promise<void> {
  await navigator.clipboard?.writeText(text).then(
    () => say(t('Copied.')),
    () => say(text),
  )
}
