import { saveFields } from '../parts/forms/save.ts'
import { asOf } from '../place.ts'
import { t } from '../texts/text.ts'
import { sayError } from '../toast.ts'
import { Act, Empty } from '../ui/basics.tsx'
import { Icon } from '../ui/icon.tsx'
import type { Entity } from '../values/entity.ts'
import { inSentence } from '../values/format.ts'
import type { Noun } from '../values/noun.ts'
import { attach, chooseAndAttach, fileFields, isList } from './attach.ts'
import { useFileDrop } from './drop.ts'
import { FileChip, filesIn } from './file-chips.tsx'
import { useAddress } from './link.ts'
import { kindOf } from './preview.tsx'
import { type FilePlace, shown } from './state.ts'

/** Larger images are not loaded for a small picture. */
const LARGEST_PICTURE = 8_000_000

/** A file field of an entity: its files, and ways to add, replace and remove them. Files can be dropped on it. */
export function FileFact({ noun, entity, name }: { noun: Noun; entity: Entity; name: string }) {
  const writes = fileFields(noun).includes(name)
  const list = isList(noun, name)
  const values = filesIn(entity[name])
  const place: FilePlace = { type: noun.name, id: entity.$id, field: name, list, asOf: asOf.value }
  const { isOver, handlers } = useFileDrop(writes ? (files) => void attach(noun, entity, files, name) : null)
  const label = inSentence(name)
  const remove = (n: number) => {
    const left = values.filter((_, at) => at !== n)
    return saveFields(noun, entity, { [name]: list && left.length > 0 ? (left as never) : null }).catch(sayError)
  }
  return (
    <dd class={`file-fact${isOver ? ' over' : ''}`} {...handlers}>
      {values.length === 0 && (writes ? <span class="none">{t('Drop a file here')}</span> : <Empty />)}
      {values.map((value, n) => (
        <div key={`${n} ${value.hash}`} class="file-line">
          {kindOf(value) === 'image' && value.size <= LARGEST_PICTURE && (
            <Picture place={place} values={values} n={n} />
          )}
          <FileChip file={value} onOpen={() => (shown.value = { ...place, values, at: n })} />
          {writes && (
            <Act class="quiet icon-only" icon="close" onRun={() => remove(n)}>
              <span class="unseen">{t('Remove {}', value.name)}</span>
            </Act>
          )}
        </div>
      ))}
      {writes && (
        <button
          type="button"
          class="quiet icon-only edit-fact"
          aria-label={
            list ? t('Add a file to {}', label) : `${values.length === 0 ? t('Choose') : t('Replace')} ${label}`
          }
          onClick={() => chooseAndAttach(noun, entity, name)}
        >
          <Icon name="upload" />
        </button>
      )}
    </dd>
  )
}

function Picture({ place, values, n }: { place: FilePlace; values: ReturnType<typeof filesIn>; n: number }) {
  const value = values[n]!
  const { url } = useAddress({ ...place, n, value })
  if (url === null) return null
  return <img class="file-picture" src={`${url}?inline=true`} alt="" loading="lazy" decoding="async" />
}
