import { useState } from 'preact/hooks'
import { lazyWindow } from '../lazy.tsx'
import { asOf, look as setAddress } from '../place.ts'
import { t } from '../texts/text.ts'
import { sayError } from '../toast.ts'
import { Menu, type MenuItem } from '../ui/menu.tsx'
import type { Noun } from '../values/noun.ts'
import { plural } from '../values/noun.ts'
import type { Look } from './look.ts'
import { isLocal, lookText, mayEdit, useViews, type View } from './views.ts'

const changes = () => import('./save-view.tsx')
const SaveDialog = lazyWindow(async () => (await changes()).SaveDialog)

const PARTS = ['layout', 'filter', 'text', 'sort', 'group', 'columns', 'view', 'page']

/** The saved views of a type: to open, to save, to change. */
export function ViewsMenu({ noun, look }: { noun: Noun; look: Look }) {
  const views = useViews(noun.name)
  const [saving, setSaving] = useState(false)
  const list = views.value ?? []
  const current = list.find(({ id }) => id === look.view)
  const isChanged = current !== undefined && JSON.stringify(lookText(look)) !== JSON.stringify(current.look)
  const items: MenuItem[] = [
    { label: t('All {}', plural(noun)), chosen: look.view === null, onSelect: () => open(null) },
    ...list.map((view) => ({
      label: view.name,
      chosen: view.id === look.view,
      hint: isLocal(view) ? t('this browser') : view.isShared ? t('shared') : t('private'),
      onSelect: () => open(view),
    })),
  ]
  if (asOf.value === null) {
    const mine = current && mayEdit(current)
    items.push({
      label: t('Save as a new view…'),
      icon: 'plus',
      section: t('This view'),
      onSelect: () => setSaving(true),
    })
    if (mine && isChanged) {
      items.push({
        label: t('Update “{}”', current.name),
        icon: 'check',
        onSelect: () =>
          changes()
            .then(({ updateView }) => updateView(current, look))
            .catch(sayError),
      })
    }
    if (mine) {
      const remove = () =>
        changes()
          .then(({ deleteView }) => deleteView(current))
          .then(() => open(null), sayError)
      items.push({ label: t('Delete “{}”', current.name), icon: 'bin', danger: true, onSelect: remove })
    }
  }
  return (
    <>
      <Menu
        class="view-button"
        align="start"
        icon="bookmark"
        label={current ? (isChanged ? t('{} · changed', current.name) : current.name) : t('Views')}
        items={items}
      />
      {saving && (
        <SaveDialog
          noun={noun}
          look={look}
          onClose={() => setSaving(false)}
          onSaved={(view) => {
            views.reload()
            open(view)
          }}
        />
      )}
    </>
  )
}

function open(view: View | null): void {
  const empty = Object.fromEntries(PARTS.map((name) => [name, null]))
  setAddress({ ...empty, ...view?.look, view: view?.id ?? null })
}
