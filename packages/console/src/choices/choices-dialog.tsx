import '../../style/pages/choices.css'
import { useState } from 'preact/hooks'
import { mayDeclare } from '../service/access.ts'
import { mayConfigure } from '../service/settings.ts'
import { t } from '../texts/text.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { SelectField } from '../ui/inputs.tsx'
import { inSentence, labelOf } from '../values/format.ts'
import { type Noun, wordsOf } from '../values/noun.ts'
import { TONES, type Tone, toneOf } from '../values/tones.ts'
import { choiceFields, saveTones, saveWords, verbsWith } from './choices.ts'

/** The stages, choices and tags of a type: their words, order and colours. */
export function ChoicesDialog(props: { noun: Noun; field?: string; onClose: () => void }) {
  const { noun } = props
  const fields = choiceFields(noun)
  const [name, setName] = useState(props.field ?? fields[0]!.name)
  const field = noun.fields[name]!
  const [words, setWords] = useState<readonly string[]>(wordsOf(field))
  const [tones, setTones] = useState<{ readonly [word: string]: Tone }>({})
  const [added, setAdded] = useState('')
  const choose = (next: string) => {
    setName(next)
    setWords(wordsOf(noun.fields[next]))
    setTones({})
  }
  const move = (at: number, by: number) => {
    const next = [...words]
    const [one] = next.splice(at, 1)
    next.splice(at + by, 0, one!)
    setWords(next)
  }
  const add = () => {
    const word = added.trim()
    if (word !== '' && !words.includes(word)) setWords([...words, word])
    setAdded('')
  }
  const save = async () => {
    const word = added.trim()
    await saveWords(noun, field, word === '' || words.includes(word) ? words : [...words, word])
    if (Object.keys(tones).length > 0) await saveTones(tones)
    props.onClose()
  }
  const declares = mayDeclare()
  return (
    <FormDialog
      title={t('Choices of {}', inSentence(noun.path))}
      submit={t('Save')}
      onSubmit={save}
      onClose={props.onClose}
    >
      <SelectField
        label={t('Field')}
        value={name}
        options={fields.map((one) => ({ value: one.name, label: labelOf(one.name) }))}
        onChange={choose}
      />
      <ol class="choice-list" aria-label={labelOf(name)}>
        {words.map((word, at) => {
          const verbs = verbsWith(noun, name, word)
          const tone = tones[word] ?? toneOf(word, words)
          return (
            <li key={word}>
              <span class={`state tone-${tone}`}>{labelOf(word)}</span>
              <select
                aria-label={t('Colour of {}', labelOf(word))}
                value={tone}
                disabled={!mayConfigure()}
                onChange={(event) => setTones({ ...tones, [word]: event.currentTarget.value as Tone })}
              >
                {Object.entries(TONES).map(([value, label]) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
              </select>
              <button
                type="button"
                class="quiet icon-only"
                aria-label={t('Move {} up', labelOf(word))}
                disabled={!declares || at === 0}
                onClick={() => move(at, -1)}
              >
                <Icon name="up" />
              </button>
              <button
                type="button"
                class="quiet icon-only"
                aria-label={t('Move {} down', labelOf(word))}
                disabled={!declares || at === words.length - 1}
                onClick={() => move(at, 1)}
              >
                <Icon name="down" />
              </button>
              <button
                type="button"
                class="quiet icon-only"
                aria-label={t('Remove {}', labelOf(word))}
                title={verbs.length > 0 ? t('{} needs it', verbs.map(labelOf).join(', ')) : undefined}
                disabled={!declares || verbs.length > 0 || words.length === 1}
                onClick={() => setWords(words.filter((one) => one !== word))}
              >
                <Icon name="close" />
              </button>
            </li>
          )
        })}
      </ol>
      {declares && (
        <div class="choice-add">
          <input
            aria-label={t('New choice')}
            placeholder={t('New choice')}
            maxLength={64}
            value={added}
            onInput={(event) => setAdded(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || added.trim() === '') return
              event.preventDefault()
              add()
            }}
          />
          <button type="button" disabled={added.trim() === ''} onClick={add}>
            <Icon name="plus" /> {t('Add')}
          </button>
        </div>
      )}
      <p class="hint">{t('A colour is that of the word everywhere. A choice that actions need cannot be removed.')}</p>
    </FormDialog>
  )
}
