import { asOf, href } from '../place.ts'
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
      <EmptyState icon="search" title="Nothing matches.">
        <button type="button" onClick={props.onClear}>
          Show all
        </button>
      </EmptyState>
    )
  }
  if (asOf.value !== null) return <EmptyState icon="clock" title={`There were no ${plural(noun)} at that time.`} />
  return (
    <EmptyState icon="table" title={`No ${plural(noun)} yet`}>
      {props.canCreate && (
        <>
          <button type="button" class="primary" onClick={props.onCreate}>
            Create the first {singular(noun)}
          </button>
          <a class="button" href={href(['import'], { type: noun.name })}>
            Import a file
          </a>
        </>
      )}
    </EmptyState>
  )
}
