/** The arrow from a value before to the one after. It points where the reading goes. */
export function Arrow() {
  return (
    <span class="arrow" aria-hidden="true">
      {' → '}
    </span>
  )
}
