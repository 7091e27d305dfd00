import { signal } from '@preact/signals'

const QUERY = matchMedia('(max-width: 600px)')

/** Whether the window is as narrow as a telephone. */
export const isNarrow = signal(QUERY.matches)

QUERY.addEventListener('change', ({ matches }) => {
  isNarrow.value = matches
})
