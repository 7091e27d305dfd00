import { type Signal, signal } from '@preact/signals'

/** Whether the window is as narrow as a telephone. */
export const isNarrow = fits('(max-width: 600px)')

/** Whether the way around is beside the page, and not behind the button of the menu. */
export const hasSide = fits('(min-width: 821px)')

function fits(media: string): Signal<boolean> {
  const query = matchMedia(media)
  const found = signal(query.matches)
  query.addEventListener('change', ({ matches }) => {
    found.value = matches
  })
  return found
}
