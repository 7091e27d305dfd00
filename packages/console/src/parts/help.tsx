import { Dialog } from './basics.tsx'

const KEYS: readonly (readonly [string, string])[] = [
  ['/', 'Search'],
  ['j k', 'Next, previous row'],
  ['[ ]', 'Previous, next page'],
  ['Enter', 'Open the row'],
  ['e', 'Edit the row or the entity'],
  ['n', 'New'],
  ['Ctrl S', 'Save'],
  ['Ctrl Enter', 'Run a query or code'],
  ['p', 'Pause the events'],
  ['t', 'Travel: to the control of time'],
  ['Esc', 'Back'],
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
    </Dialog>
  )
}
