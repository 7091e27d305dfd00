import { saveFields } from '../../parts/forms/save.ts'
import { Value } from '../../parts/value.tsx'
import { runVerb, verbItems } from '../../parts/verbs.tsx'
import { href } from '../../place.ts'
import { mayChange } from '../../service/access.ts'
import { titleOf } from '../../service/schema.ts'
import { t } from '../../texts/text.ts'
import { say, sayError } from '../../toast.ts'
import { Icon } from '../../ui/icon.tsx'
import { Menu, type MenuItem } from '../../ui/menu.tsx'
import type { Entity } from '../../values/entity.ts'
import { labelOf } from '../../values/format.ts'
import { type Noun, verbsFor } from '../../values/noun.ts'
import { hasMoves, moveTo, reachable } from './moves.ts'

/** An entity on a board. It is dragged with a mouse or a finger, or moved from its menu. */
export function Card(props: {
  noun: Noun
  entity: Entity
  field: string
  fields: readonly string[]
  isDragged: boolean
  onPress: (event: PointerEvent) => void
}) {
  const { noun, entity, field } = props
  const changes = mayChange(noun)
  const items = () => {
    const moves: MenuItem[] = reachable(noun, entity, field).map((word, at) => ({
      label: labelOf(word),
      ...(at === 0 && { section: t('Move to') }),
      onSelect: () => move(noun, entity, field, word),
    }))
    const others = verbItems(noun, entity, true)
    return [...moves, ...others.map((item, at) => (at === 0 ? { ...item, section: t('Do') } : item))]
  }
  const shown = props.fields.filter(
    (name) => name !== field && !name.startsWith('$') && entity[name] !== null && entity[name] !== undefined,
  )
  return (
    <li
      class={`card${changes ? ' movable' : ''}${props.isDragged ? ' dragged' : ''}`}
      onPointerDown={(event) => changes && props.onPress(event)}
      // Links would be dragged by the browser.
      onDragStart={(event) => event.preventDefault()}
    >
      <div class="card-head">
        <a class="title" href={href([noun.name, entity.$id])}>
          {titleOf(entity, noun)}
        </a>
        {changes && (
          <Menu
            class="quiet icon-only"
            label={<Icon name="more" />}
            name={t('Actions for {}', titleOf(entity, noun))}
            items={items}
          />
        )}
      </div>
      {shown.slice(1, 5).map((name) => (
        <div class="card-fact" key={name} title={labelOf(name)}>
          <span class="unseen">{labelOf(name)}: </span>
          <Value value={entity[name]} field={noun.fields[name]} name={name} entity={entity} />
        </div>
      ))}
    </li>
  )
}

/** Moves an entity to another value of a field: by a verb where the type has verbs for that. */
export async function move(noun: Noun, entity: Entity, field: string, target: string): Promise<void> {
  if (entity[field] === target) return
  const found = moveTo(noun, entity, field, target)
  if (found) return void (await runVerb(noun, entity, found.verb, found.args))
  const change = () => saveFields(noun, entity, { [field]: target }).catch(sayError)
  if (!hasMoves(noun, field)) return void (await change())
  const from = labelOf(String(entity[field]))
  const ways = verbsFor(noun, entity).filter(({ set }) => set !== undefined && field in set)
  const names = ways.map(({ name }) => labelOf(name)).join(', ')
  say(
    t(
      'No action leads from {} to {}.{}',
      from,
      labelOf(target),
      names ? ` ${t('From {} there {}: {}.', from, ways.length === 1 ? t('is') : t('are'), names)}` : '',
    ),
    { tone: 'bad', action: noun.verbs.update ? { label: t('Change the field'), run: change } : null },
  )
}
