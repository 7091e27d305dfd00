import { bytesText } from '../values/format.ts'
import '../../style/pages/file-chips.css'
import type { FileValue, Json } from '@tildebase/nouns'
import { Icon } from '../ui/icon.tsx'
import { type FilePlace, shown } from './state.ts'

/** The files of a field. Each opens the viewer when it is known where they are. */
export function FileChips({ value, place }: { value: Json; place: FilePlace | null }) {
  const values = filesIn(value)
  return (
    <span class="files">
      {values.map((file, at) => (
        <FileChip
          key={`${at} ${file.hash}`}
          file={file}
          onOpen={place === null ? null : () => (shown.value = { ...place, values, at })}
        />
      ))}
    </span>
  )
}

/** A file by its name and size. */
export function FileChip({ file, onOpen }: { file: FileValue; onOpen: (() => void) | null }) {
  const text = (
    <>
      <Icon name="clip" /> <span class="file-name">{file.name}</span> <small>{bytesText(file.size)}</small>
    </>
  )
  if (onOpen === null) return <span class="file">{text}</span>
  return (
    <button type="button" class="quiet file" title={file.name} onClick={onOpen}>
      {text}
    </button>
  )
}

/** The files of a value: one, or a list. */
export function filesIn(value: Json | undefined): readonly FileValue[] {
  if (value === null || value === undefined) return []
  return (Array.isArray(value) ? value : [value]) as unknown as readonly FileValue[]
}
