import '../../../style/pages/help.css'
import { DOCUMENTATION } from '@tildebase/nouns'
import { Dialog } from '../../ui/dialog.tsx'

const KEYS: readonly (readonly [string, string])[] = [
  ['Ctrl K', 'Search everything, and commands'],
  ['/', 'Search this list'],
  ['f', 'Filter'],
  ['j k', 'Next, previous row'],
  ['[ ]', 'Previous, next page'],
  ['Enter', 'Open the row'],
  ['x', 'Select the row'],
  ['e', 'Edit the row or the entity'],
  ['i', 'Choose cells: arrows move, Enter edits, Ctrl C copies, Ctrl V pastes'],
  ['n', 'New'],
  ['Ctrl S', 'Save'],
  ['Ctrl Z', 'Undo the last change'],
  ['Ctrl Enter', 'Run a query or code'],
  ['p', 'Pause the events'],
  ['t', 'Go to the control of time'],
  ['Esc', 'Close, or back to the list'],
  ['?', 'This list'],
]

/** What the keyboard does. */
export function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl class="keys">
        {KEYS.map(([key, what]) => (
          <div key={key}>
            <dt>
              {key.split(' ').map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p>
        <a href={DOCUMENTATION} target="_blank" rel="noreferrer">
          Documentation
        </a>
      </p>
    </Dialog>
  )
}
