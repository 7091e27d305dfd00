import { isFavourite, toggleFavourite } from '../favourites.ts'
import { t } from '../texts/text.ts'
import { Icon } from '../ui/icon.tsx'

/** Keeps the place that is shown in the sidebar, or lets it go. */
export function Star({ label }: { label: string }) {
  const isKept = isFavourite()
  const name = isKept ? t('Remove from favourites') : t('Add to favourites')
  return (
    <button
      type="button"
      class={`quiet icon-only star${isKept ? ' on' : ''}`}
      aria-pressed={isKept}
      aria-label={name}
      title={name}
      onClick={() => toggleFavourite(label)}
    >
      <Icon name="star" />
    </button>
  )
}
