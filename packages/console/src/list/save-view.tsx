import { useState } from 'preact/hooks'
import { keyId } from '../service/access.ts'
import { storeOf } from '../service/own-types.ts'
import { sayDone, write } from '../service/write.ts'
import { ensureType, keepDocuments } from '../settings/own-notations.ts'
import { t } from '../texts/text.ts'
import { NameDialog } from '../ui/form-dialog.tsx'
import type { Entity } from '../values/entity.ts'
import type { Noun } from '../values/noun.ts'
import type { Look } from './look.ts'
import { isLocal, LOCAL, local, lookText, TYPE, type View, viewOf } from './views.ts'

/** Asks for the name of a view, and who sees it. */
export function SaveDialog(props: { noun: Noun; look: Look; onClose: () => void; onSaved: (view: View) => void }) {
  const [isShared, setShared] = useState(false)
  const save = async (name: string) => {
    props.onSaved(await saveView(props.noun.name, name, props.look, isShared))
    props.onClose()
  }
  return (
    <NameDialog title={t('Save this view')} submit={t('Save view')} onName={save} onClose={props.onClose}>
      {storeOf(TYPE) === 'browser' ? (
        <p class="hint">
          {t(
            'You may not save views for everyone, so this one is kept in this browser only. Other people and other browsers do not see it.',
          )}
        </p>
      ) : (
        <label class="check">
          <input type="checkbox" checked={isShared} onChange={(event) => setShared(event.currentTarget.checked)} />{' '}
          {t('Share it with everyone')}
        </label>
      )}
    </NameDialog>
  )
}

/** Saves how the list looks now under a view that exists. */
export async function updateView(view: View, look: Look): Promise<void> {
  if (isLocal(view))
    return keepLocal(local().map((one) => (one.id === view.id ? { ...one, look: lookText(look) } : one)))
  const change = { method: 'PUT', path: `/${TYPE}/${view.id}`, body: { look: lookText(look) }, type: TYPE } as const
  const { correlation } = await write(change)
  sayDone(t('View “{}” updated.', view.name), correlation)
}

export async function deleteView(view: View): Promise<void> {
  if (isLocal(view)) return keepLocal(local().filter(({ id }) => id !== view.id))
  const { correlation } = await write({ method: 'DELETE', path: `/${TYPE}/${view.id}`, type: TYPE })
  sayDone(t('View “{}” deleted.', view.name), correlation)
}

/** Saves a look under a name. The type that holds views is declared when the first is saved. */
async function saveView(type: string, name: string, look: Look, isShared: boolean): Promise<View> {
  const view = { name, type, look: lookText(look), shared: isShared, owner: keyId() }
  if (storeOf(TYPE) === 'browser') return saveLocal(view)
  await ensureType(TYPE)
  const { value, correlation } = await write<Entity>({ path: `/${TYPE}`, body: view, type: TYPE })
  sayDone(t('View “{}” saved.', name), correlation)
  return viewOf(value)
}

function saveLocal(view: { name: string; type: string; look: View['look'] }): View {
  const made = { id: `local-${Date.now()}`, ...view, isShared: false, isMine: true }
  keepLocal([...local(), made])
  return made
}

function keepLocal(views: readonly View[]): void {
  keepDocuments(LOCAL, views)
}
