import { storeContent } from '@tildebase/client'
import type { Field, Json } from '@tildebase/nouns'
import { useRef, useState } from 'preact/hooks'
import { newCorrelation } from '../service/write.ts'
import { t } from '../texts/text.ts'
import { sayError } from '../toast.ts'
import { Icon } from '../ui/icon.tsx'
import { FileChip, filesIn } from './file-chips.tsx'
import { wireWith } from './wire.ts'

interface Props {
  readonly id: string
  readonly field: Exclude<Field, { kind: 'back' }>
  readonly value: Json | undefined
  readonly onChange: (value: Json) => void
  readonly label?: string | undefined
}

/** The files of a field in a form. They are sent when they are chosen; the form then names them. */
export function FileInput({ id, field, value, onChange, label }: Props) {
  const input = useRef<HTMLInputElement>(null)
  const [share, setShare] = useState<number | null>(null)
  const values = filesIn(value)
  const give = (files: readonly object[]) =>
    onChange((files.length === 0 ? null : field.list ? files : files.at(-1)) as Json)
  const take = async (files: readonly File[]) => {
    // A form is not saved while its files are on their way.
    input.current?.setCustomValidity(t('The file is still being sent.'))
    try {
      const sent: object[] = []
      for (const file of files) {
        const onProgress = (state: { sent: number; size: number }) => setShare(state.sent / Math.max(1, state.size))
        sent.push(await storeContent(wireWith(newCorrelation()), '', file, { onProgress }))
      }
      give(field.list ? [...values, ...sent] : sent)
    } catch (reason) {
      sayError(reason)
    }
    setShare(null)
    input.current?.setCustomValidity('')
    if (input.current) input.current.value = ''
  }
  return (
    <div class="file-input">
      {values.map((file, n) => (
        <span key={`${n} ${file.hash}`} class="file-line">
          <FileChip file={file} onOpen={null} />
          <button
            type="button"
            class="quiet icon-only"
            aria-label={t('Remove {}', file.name)}
            onClick={() => give(values.filter((_, at) => at !== n))}
          >
            <Icon name="close" />
          </button>
        </span>
      ))}
      <input
        ref={input}
        id={id}
        type="file"
        aria-label={label}
        multiple={field.list}
        required={field.required && values.length === 0 && !label}
        onChange={(event) => void take([...(event.currentTarget.files ?? [])])}
      />
      {share !== null && <progress aria-label={t('Progress of the file')} max={1} value={share} />}
    </div>
  )
}
