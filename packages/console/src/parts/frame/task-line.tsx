import type { ComponentChildren } from 'preact'

/** Something that takes a while: what it does, how far it is, and a way to end it where there is one. */
export function TaskLine(props: {
  /** The name of its bar. */
  name: string
  text: ComponentChildren
  hint?: ComponentChildren
  done?: number | undefined
  /** What there is to do; unknown without. */
  of?: number | null | undefined
  children?: ComponentChildren
}) {
  const { of, done = 0 } = props
  return (
    <li class="task">
      <span>{props.text}</span>
      {props.hint !== undefined && <span class="hint">{props.hint}</span>}
      {props.children}
      <progress aria-label={props.name} {...(of ? { max: of, value: Math.min(done, of) } : {})} />
    </li>
  )
}
