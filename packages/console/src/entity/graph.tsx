import { useEffect, useRef } from 'preact/hooks'
import { href } from '../place.ts'
import { nouns, titleOf } from '../service/schema.ts'
import { t } from '../texts/text.ts'
import { Scroll } from '../ui/basics.tsx'
import { type Entity, isEntity } from '../values/entity.ts'
import { labelOf, shortText } from '../values/format.ts'
import { type Noun, targetOf } from '../values/noun.ts'

interface Node {
  readonly relation: string
  readonly text: string
  readonly type: string
  readonly to: string
}

const WIDTH = 720
const ROW = 46
const BOX = { width: 196, height: 34 }
const SHOWN = 3

/** What an entity points to, on the left, and what points to it, on the right. */
export function RelationGraph({ noun, entity }: { noun: Noun; entity: Entity }) {
  const left = nodesOf(noun, entity, 'forward')
  const right = nodesOf(noun, entity, 'back')
  const graph = useRef<SVGSVGElement>(null)
  // Where there is no room for all of it, the entity itself is in sight.
  useEffect(() => {
    const box = graph.current?.parentElement
    if (box) box.scrollLeft = (box.scrollWidth - box.clientWidth) / 2
  }, [entity.$id])
  if (left.length + right.length === 0) return <p class="empty">{t('Nothing is connected to it.')}</p>
  const height = Math.max(left.length, right.length, 2) * ROW + 16
  const middle = height / 2
  return (
    <Scroll label={t('Relations as a graph')}>
      <svg ref={graph} class="graph" viewBox={`0 0 ${WIDTH} ${height}`} width={WIDTH} height={height}>
        <title>{t('Relations of {}', titleOf(entity, noun))}</title>
        <Side nodes={left} x={8} anchor={WIDTH / 2 - 84} middle={middle} height={height} />
        <Side nodes={right} x={WIDTH - BOX.width - 8} anchor={WIDTH / 2 + 84} middle={middle} height={height} />
        <g class="self">
          <rect x={WIDTH / 2 - 84} y={middle - 24} width={168} height={48} rx={12} />
          <text x={WIDTH / 2} y={middle - 2} class="kind">
            {labelOf(noun.name)}
          </text>
          <text x={WIDTH / 2} y={middle + 14}>
            {shortText(titleOf(entity, noun), 22)}
          </text>
        </g>
      </svg>
    </Scroll>
  )
}

function Side(props: { nodes: readonly Node[]; x: number; anchor: number; middle: number; height: number }) {
  const { nodes, x, anchor, middle, height } = props
  const edge = x < anchor ? x + BOX.width : x
  const bend = (edge + anchor) / 2
  return (
    <>
      {nodes.map((node, at) => {
        const y = (height - nodes.length * ROW) / 2 + at * ROW + ROW / 2
        return (
          <g key={`${node.relation} ${node.to}`}>
            <path class="edge" d={`M ${edge} ${y} C ${bend} ${y}, ${bend} ${middle}, ${anchor} ${middle}`} />
            <a href={node.to} class="node">
              <title>{node.text}</title>
              <rect x={x} y={y - BOX.height / 2} width={BOX.width} height={BOX.height} rx={9} />
              <text x={x + 12} y={y - 3} class="kind">
                {labelOf(node.relation)}
              </text>
              <text x={x + 12} y={y + 11}>
                {shortText(node.text, 28)}
              </text>
            </a>
          </g>
        )
      })}
    </>
  )
}

/** The first few entities of each relation of a kind, and one node that leads to the rest. */
function nodesOf(noun: Noun, entity: Entity, kind: 'forward' | 'back'): Node[] {
  return Object.values(noun.fields)
    .filter((field) => field.kind === kind && entity[field.name] !== undefined && entity[field.name] !== null)
    .flatMap((field) => {
      const value = entity[field.name]!
      const type = targetOf(field) ?? ''
      const found = (Array.isArray(value) ? value : [value]).filter(isEntity)
      const nodes = found.slice(0, SHOWN).map((one) => ({
        relation: field.name,
        type,
        text: titleOf(one, nouns.value.get(type)),
        to: href([type, one.$id]),
      }))
      if (found.length <= SHOWN) return nodes
      const filter = field.kind === 'back' ? JSON.stringify({ [field.via]: entity.$id }) : null
      return [
        ...nodes,
        { relation: field.name, type, text: `${found.length - SHOWN} more…`, to: href([type], { filter }) },
      ]
    })
}
