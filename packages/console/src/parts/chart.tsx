import '../../style/pages/charts.css'
import type { RefObject } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { t } from '../texts/text.ts'
import { compactText } from '../values/figures.ts'
import { labelOf, numberText } from '../values/format.ts'

export interface Point {
  readonly label: string
  readonly value: number | null
  /** The tone of the state that a bar is for. */
  readonly tone?: string
}

/** The width until the room is known, and the least. */
const WIDTH = 360
const LEAST = 240
/** Tiles leave this room before they have their numbers. */
const HEIGHT = 140
const PAD = { left: 54, right: 18, top: 12, bottom: 22 }

/** A line over time, drawn from what is known. */
export function LineChart({ title, points }: { title: string; points: readonly Point[] }) {
  const [box, room] = useRoom()
  const scale = scaleOf(points)
  const x = (at: number) => PAD.left + (at / Math.max(points.length - 1, 1)) * (room - PAD.left - PAD.right)
  const known = points.flatMap((point, at) =>
    point.value === null ? [] : [{ ...point, value: point.value, x: x(at), y: scale.y(point.value) }],
  )
  const line = known.map(({ x: left, y }, at) => `${at === 0 ? 'M' : 'L'} ${left} ${y}`).join(' ')
  const area =
    known.length > 1
      ? `${line} L ${known.at(-1)!.x} ${scale.y(scale.low)} L ${known[0]!.x} ${scale.y(scale.low)} Z`
      : ''
  return (
    <Frame title={title} points={points} scale={scale} x={x} box={box} room={room}>
      <path class="area" d={area} />
      <path class="line" d={line} />
      {known.map((point) => (
        <circle key={point.label} class="dot" cx={point.x} cy={point.y} r={3}>
          <title>{`${point.label}: ${numberText(point.value)}`}</title>
        </circle>
      ))}
    </Frame>
  )
}

/** A bar for each of some things, or of some months. */
export function BarChart({ title, points }: { title: string; points: readonly Point[] }) {
  const [box, room] = useRoom()
  const scale = scaleOf(points)
  const slot = (room - PAD.left - PAD.right) / Math.max(points.length, 1)
  const width = Math.min(slot * 0.64, 42)
  const x = (at: number) => PAD.left + slot * (at + 0.5)
  return (
    <Frame title={title} points={points} scale={scale} x={x} box={box} room={room}>
      {points.map((point, at) => {
        const top = scale.y(point.value ?? 0)
        const base = scale.y(0)
        return (
          <rect
            key={point.label}
            class="bar"
            x={x(at) - width / 2}
            y={Math.min(top, base)}
            width={width}
            height={Math.max(Math.abs(base - top), 0.5)}
            rx={3}
          >
            <title>{`${point.label}: ${numberText(point.value ?? 0)}`}</title>
          </rect>
        )
      })}
    </Frame>
  )
}

/** Some things by how much of each there is, one below the other so that every name has room. */
export function RankChart({ title, points }: { title: string; points: readonly Point[] }) {
  const id = useId()
  const [box, room] = useRoom()
  const span = room - 106 - 38
  const most = Math.max(1, ...points.map(({ value }) => value ?? 0))
  const row = Math.min(26, (HEIGHT - 6) / Math.max(points.length, 1))
  return (
    <svg class="chart" ref={box} viewBox={`0 0 ${room} ${HEIGHT}`} role="img" aria-labelledby={id}>
      <title
        id={id}
      >{`${title}: ${points.map(({ label, value }) => `${labelOf(label)} ${numberText(value ?? 0)}`).join(', ')}`}</title>
      {points.map(({ label, value, tone }, at) => (
        <g key={label}>
          <text x={98} y={at * row + row / 2 + 6} text-anchor="end">
            {labelOf(label)}
          </text>
          <rect
            class={`bar${tone ? ` tone-${tone}` : ''}`}
            x={106}
            y={at * row + 5}
            width={Math.max(1, ((value ?? 0) / most) * span)}
            height={row - 7}
            rx={3}
          />
          <text class="word" x={112 + ((value ?? 0) / most) * span} y={at * row + row / 2 + 6}>
            {numberText(value ?? 0)}
          </text>
        </g>
      ))}
    </svg>
  )
}

/** The width that a chart has: it is drawn in it as it is, so that words keep their size. */
function useRoom(): [RefObject<SVGSVGElement | null>, number] {
  const box = useRef<SVGSVGElement>(null)
  const [room, setRoom] = useState(WIDTH)
  useLayoutEffect(() => {
    const element = box.current
    if (!element) return
    const measure = () => setRoom(Math.max(LEAST, Math.round(element.getBoundingClientRect().width)))
    measure()
    const watch = new ResizeObserver(measure)
    watch.observe(element)
    return () => watch.disconnect()
  }, [])
  return [box, room]
}

interface Scale {
  readonly low: number
  readonly high: number
  readonly y: (value: number) => number
}

function Frame(props: {
  title: string
  points: readonly Point[]
  scale: Scale
  x: (at: number) => number
  box: RefObject<SVGSVGElement | null>
  room: number
  children: unknown
}) {
  const { points, scale, x, box, room } = props
  const id = useId()
  // Words side by side: as many as have room.
  const every = Math.max(
    1,
    Math.ceil(points.reduce((sum, { label }) => sum + label.length * 6 + 10, 0) / (room - PAD.left)),
  )
  const text = points
    .map(({ label, value }) => `${label} ${value === null ? t('unknown') : numberText(value)}`)
    .join(', ')
  return (
    <svg class="chart" ref={box} viewBox={`0 0 ${room} ${HEIGHT}`} role="img" aria-labelledby={id}>
      <title id={id}>{`${props.title}: ${text}`}</title>
      {[scale.low, (scale.low + scale.high) / 2, scale.high].map((value) => (
        <g key={value} class="tick">
          <line x1={PAD.left} x2={room - PAD.right} y1={scale.y(value)} y2={scale.y(value)} />
          <text x={PAD.left - 8} y={scale.y(value) + 3.5} text-anchor="end">
            {compactText(value)}
          </text>
        </g>
      ))}
      {props.children as never}
      {points.map(({ label }, at) =>
        at % every === 0 ? (
          <text key={label} class="word" x={x(at)} y={HEIGHT - 5} text-anchor="middle">
            {label}
          </text>
        ) : null,
      )}
    </svg>
  )
}

function scaleOf(points: readonly Point[]): Scale {
  const values = points.flatMap(({ value }) => (value === null ? [] : [value]))
  const low = Math.min(0, ...values)
  const top = Math.max(0, ...values)
  const high = top === low ? low + 1 : round(top)
  return { low, high, y: (value) => PAD.top + ((high - value) / (high - low)) * (HEIGHT - PAD.top - PAD.bottom) }
}

/** The next number that is good to read: 1, 2, 2.5, 4, 5 or 8 times a power of ten. */
function round(value: number): number {
  if (value <= 0) return 0
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 1.2, 1.6, 2, 2.5, 3, 4, 5, 6, 8, 10].find((step) => step * power >= value) ?? 10) * power
}

export interface Step {
  readonly name: string
  readonly count: number
  readonly conversion: number | null
}

/** A funnel: each step as wide as those who reached it. */
export function FunnelChart({ title, steps }: { title: string; steps: readonly Step[] }) {
  const id = useId()
  const most = Math.max(1, ...steps.map(({ count }) => count))
  const row = 40
  const [box, room] = useRoom()
  const span = room - 160
  return (
    <svg
      class="chart funnel"
      ref={box}
      viewBox={`0 0 ${room} ${steps.length * row + 4}`}
      role="img"
      aria-labelledby={id}
    >
      <title id={id}>{`${title}: ${steps.map(({ name, count }) => `${name} ${count}`).join(', ')}`}</title>
      {steps.map(({ name, count }, at) => {
        const next = steps[at + 1]?.count ?? count
        const [top, bottom] = [(count / most) * span, (next / most) * span]
        const middle = 110 + span / 2
        const y = at * row + 2
        return (
          <g key={name}>
            <text x={104} y={y + row / 2 + 1} text-anchor="end">
              {labelOf(name).slice(0, 16)}
            </text>
            <path
              class="stage"
              d={`M ${middle - top / 2} ${y} H ${middle + top / 2} L ${middle + bottom / 2} ${y + row - 3} H ${middle - bottom / 2} Z`}
            />
            <text x={middle} y={y + row / 2 + 1} text-anchor="middle" class="count">
              {numberText(count)}
            </text>
            {at > 0 && (
              <text x={room - 4} y={y + row / 2 + 1} text-anchor="end" class="word">
                {percent(count, steps[at - 1]!.count)}
              </text>
            )}
          </g>
        )
      })}
    </svg>
  )
}

function percent(count: number, before: number): string {
  return before === 0 ? '—' : `${Math.round((count / before) * 100)}%`
}
