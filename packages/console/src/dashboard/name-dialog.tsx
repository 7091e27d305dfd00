import { useId, useState } from 'preact/hooks'
import { may } from '../access.ts'
import { createDashboard, type Dashboard, dashboardStore, type Tile } from '../dashboards.ts'
import { nouns } from '../schema.ts'
import { Labelled } from '../ui/basics.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Failure } from '../ui/states.tsx'

/** Asks for the name of a new dashboard and creates it. */
export function NameDialog(props: { onClose: () => void; onMade: (made: Dashboard) => void }) {
  const id = useId()
  const [name, setName] = useState('')
  const [error, setError] = useState<Error | null>(null)
  const make = () =>
    createDashboard(name.trim(), startTiles()).then((made) => {
      props.onClose()
      props.onMade(made)
    }, setError)
  return (
    <Dialog title="New dashboard" size="narrow" onClose={props.onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void make()
        }}
      >
        <Labelled label="Name" for={`${id}-name`}>
          <input
            id={`${id}-name`}
            required
            autocomplete="off"
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </Labelled>
        {dashboardStore() === 'browser' && (
          <p class="hint">This key may not store dashboards in the tenant, so this one is kept in this browser only.</p>
        )}
        <Failure error={error} />
        <footer>
          <button type="submit" class="primary">
            Create
          </button>
          <button type="button" onClick={props.onClose}>
            Cancel
          </button>
        </footer>
      </form>
    </Dialog>
  )
}

/** What a new dashboard begins with, as far as the key may read it. */
function startTiles(): Tile[] {
  const tiles: Tile[] = [
    { title: 'Deals by stage', source: 'count', of: 'Deal', group: 'stage', wide: true },
    { title: 'Pipeline value', source: 'sum', of: 'Deal', field: 'value' },
    { title: 'MRR', source: 'metric', of: 'mrr' },
  ]
  return tiles.filter(({ source, of }) => source === 'metric' || may('read', nouns.value.get(of)))
}
