import { asOf, href } from '../place.ts'
import { t } from '../texts/text.ts'
import { EmptyState } from '../ui/states.tsx'
import { type Noun, plural, singular } from '../values/noun.ts'

/** A list without rows: why, and the first step. */
export function Nothing(props: {
  noun: Noun
  isFiltered: boolean
  canCreate: boolean
  onClear: () => void
  onCreate: () => void
}) {
  const { noun } = props
  if (props.isFiltered) {
    return (
      <EmptyState icon="search" title={t('Nothing matches.')}>
        <button type="button" onClick={props.onClear}>
          {t('Show all')}
        </button>
      </EmptyState>
    )
  }
  if (asOf.value !== null) return <EmptyState icon="clock" title={t('There were no {} at that time.', plural(noun))} />
  return (
    <EmptyState icon="table" title={t('No {} yet', plural(noun))}>
      {props.canCreate && (
        <>
          <button type="button" class="primary" onClick={props.onCreate}>
            {t('Create the first {}', singular(noun))}
          </button>
          <a class="button" href={href(['import'], { type: noun.name })}>
            {t('Import a file')}
          </a>
        </>
      )}
    </EmptyState>
  )
}
