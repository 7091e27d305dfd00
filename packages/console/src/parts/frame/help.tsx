import '../../../style/pages/help.css'
import { DOCUMENTATION } from '@tildebase/nouns'
import { t } from '../../texts/text.ts'
import { Dialog } from '../../ui/dialog.tsx'

const KEYS: readonly (readonly [string, string])[] = [
  ['Ctrl K', t('Search everything, and commands')],
  ['/', t('Search this list')],
  ['f', t('Filter')],
  ['j k', t('Next, previous row')],
  ['[ ]', t('Previous, next page')],
  ['Enter', t('Open the row')],
  ['x', t('Select the row')],
  ['e', t('Edit the row or the entry')],
  ['i', t('Choose cells: arrows move, Enter edits, Ctrl C copies, Ctrl V pastes')],
  ['n', t('New')],
  ['Ctrl S', t('Save')],
  ['Ctrl Z', t('Undo the last change')],
  ['Ctrl Enter', t('Run a query or code')],
  ['p', t('Pause the events')],
  ['t', t('Go to the control of time')],
  ['Esc', t('Close, or back to the list')],
  ['?', t('This list')],
]

/** What the keyboard does. */
export function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={t('Keyboard')} onClose={onClose}>
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
          {t('Documentation')}
        </a>
      </p>
    </Dialog>
  )
}
