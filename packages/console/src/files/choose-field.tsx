import { t } from '../texts/text.ts'
import { Dialog } from '../ui/dialog.tsx'
import { labelOf } from '../values/format.ts'
import { attach, fileFields, isList } from './attach.ts'
import { attaching } from './state.ts'

/** Asks which field dropped files are for. */
export function ChooseField() {
  const { noun, entity, files } = attaching.value!
  const close = () => {
    attaching.value = null
  }
  const choose = (field: string) => {
    close()
    void attach(noun, entity, files, field)
  }
  const fields = fileFields(noun).filter((name) => files.length === 1 || isList(noun, name))
  return (
    <Dialog
      title={files.length === 1 ? t('Attach {} as', files[0]!.name) : t('Attach {} files as', files.length)}
      size="narrow"
      onClose={close}
    >
      <div class="choices">
        {fields.map((name) => (
          <button key={name} type="button" onClick={() => choose(name)}>
            {labelOf(name)}
            {!isList(noun, name) && entity[name] ? <small> {t('replaces the file that is there')}</small> : null}
          </button>
        ))}
        {fields.length === 0 && <p>{t('Each of its fields holds one file. Drop one file only.')}</p>}
      </div>
    </Dialog>
  )
}
