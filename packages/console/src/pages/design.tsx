import { useState } from 'preact/hooks'
import { State } from '../parts/value.tsx'
import { say } from '../toast.ts'
import { Act, Head, Labelled, Tabs } from '../ui/basics.tsx'
import { Combobox } from '../ui/combobox.tsx'
import { confirmDiscard } from '../ui/dialog.tsx'
import { Icon, type IconName } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import { EmptyState, Failure, Skeleton } from '../ui/states.tsx'

const COLOURS = [
  'paper', 'surface', 'sunken', 'hover', 'ink', 'soft', 'line', 'edge', 'accent', 'accent-soft', 'good', 'good-soft', 'bad',
  'bad-soft', 'wait', 'wait-soft', 'new', 'new-soft', 'busy', 'busy-soft', 'dim', 'dim-soft',
] // biome-ignore format: a list of words

const STATES = ['New', 'InProgress', 'Pending', 'Won', 'Lost', 'Archived']
const ICONS: readonly IconName[] = [
  'home',
  'table',
  'board',
  'filter',
  'search',
  'plus',
  'edit',
  'bin',
  'clock',
  'undo',
]
const FRUIT = ['Apple', 'Apricot', 'Cherry', 'Plum', 'Quince'].map((label) => ({ value: label, label }))

/** The colours, sizes and components of the console, for those who work on it. */
export function DesignPage() {
  const [word, setWord] = useState('')
  const [fruit, setFruit] = useState('')
  const [tab, setTab] = useState<'one' | 'two'>('one')
  const [isOn, setOn] = useState(true)
  return (
    <>
      <Head title="Design" about="What the console is built from" />
      <section class="panel" aria-labelledby="colours-title">
        <h2 id="colours-title">Colours</h2>
        <ul class="swatches">
          {COLOURS.map((name) => (
            <li key={name}>
              <span class={`swatch swatch-${name}`} />
              <code>--{name}</code>
            </li>
          ))}
        </ul>
      </section>
      <section class="panel" aria-labelledby="text-title">
        <h2 id="text-title">Text</h2>
        <p class="sample">Heading of a page, 20 px</p>
        <p>Text of 13.5 px, in Geist, which the console brings along.</p>
        <p class="hint">Small text of 12 px, for what is secondary.</p>
        <p>
          <code>Code</code> and <kbd>Ctrl K</kbd>
        </p>
      </section>
      <section class="panel" aria-labelledby="controls-title">
        <h2 id="controls-title">Controls</h2>
        <div class="actions">
          <button type="button" class="primary">
            Primary
          </button>
          <button type="button">Plain</button>
          <button type="button" class="quiet">
            Quiet
          </button>
          <button type="button" class="danger">
            Danger
          </button>
          <button type="button" disabled>
            Disabled
          </button>
          <Act onRun={() => new Promise((done) => setTimeout(done, 1_000))}>Busy for a second</Act>
          <Menu
            label="Menu"
            items={[
              { label: 'An action', icon: 'edit', hint: 'e', onSelect: () => say('Done.') },
              { label: 'On or off', checked: isOn, onSelect: () => setOn(!isOn) },
              { label: 'Delete', icon: 'bin', danger: true, onSelect: () => confirmDiscard() },
            ]}
          />
          <Tabs
            label="Tabs"
            value={tab}
            options={[
              { value: 'one', label: 'One' },
              { value: 'two', label: 'Two' },
            ]}
            onChange={setTab}
          />
        </div>
        <div class="form-grid">
          <Labelled label="Text" for="design-text" hint="A hint">
            <input id="design-text" />
          </Labelled>
          <Labelled label="Wrong" for="design-wrong" error="This is not a number.">
            <input id="design-wrong" value="abc" readOnly />
          </Labelled>
          <Labelled label="Combobox" for="design-combobox">
            <Combobox
              id="design-combobox"
              text={fruit}
              options={FRUIT.filter(({ label }) => label.toLowerCase().startsWith(word.toLowerCase()))}
              onInput={setWord}
              onSelect={({ label }) => setFruit(label)}
            />
          </Labelled>
        </div>
      </section>
      <section class="panel" aria-labelledby="states-title">
        <h2 id="states-title">States</h2>
        <p class="actions">
          {STATES.map((state) => (
            <State key={state} value={state} />
          ))}
        </p>
        <p class="actions">
          {ICONS.map((name) => (
            <Icon key={name} name={name} />
          ))}
        </p>
        <Skeleton rows={3} />
        <Failure error={new Error('Something went wrong, and this says what.')} onRetry={() => say('Tried again.')} />
        <EmptyState icon="table" title="Nothing here yet">
          <button type="button">The first step</button>
        </EmptyState>
      </section>
    </>
  )
}
