import { lazy } from '../lazy.tsx'
import { asOf } from '../place.ts'
import { t } from '../texts/text.ts'
import { Tabs } from '../ui/basics.tsx'
import { Icon, type IconName } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import { inSentence, labelOf } from '../values/format.ts'
import { type Noun, plural, titleField } from '../values/noun.ts'
import { boardFields, calendarFields, groupFields, hasMine, isTimed, type Look, setLook } from './look.ts'
import { ViewsMenu } from './views-menu.tsx'

const SortMenu = lazy(
  async () => (await import('./board/sort-menu.tsx')).SortMenu,
  () => null,
)

/** How a list is looked at: its view, search, filter, groups, columns and layout. */
export function Toolbar(props: {
  noun: Noun
  look: Look
  search: { readonly current: HTMLInputElement | null }
  isFiltering: boolean
  onFilter: () => void
  onColumns: () => void
}) {
  const { noun, look } = props
  const groups = boardFields(noun)
  const fields = groupFields(noun)
  const layouts: { value: Look['layout']; label: string; icon: IconName }[] = [
    { value: 'table', label: t('Table'), icon: 'table' },
    ...(groups.length > 0 ? [{ value: 'board', label: t('Board'), icon: 'board' } as const] : []),
    ...(calendarFields(noun).length > 0
      ? [{ value: 'calendar', label: t('Calendar'), icon: 'calendar' } as const]
      : []),
  ]
  const conditions = Object.keys(look.filter).length
  // The index of words is about the present: in the past names alone are looked through.
  const canSearch = asOf.value === null || titleField(noun) !== null
  return (
    <search class="toolbar">
      <ViewsMenu noun={noun} look={look} />
      <label class="search-box">
        <Icon name="search" />
        <input
          ref={props.search}
          type="search"
          aria-label={t('Search {}', plural(noun))}
          placeholder={
            canSearch ? (asOf.value ? t('Search in names') : t('Search')) : t('Search works in the present only')
          }
          disabled={!canSearch}
          value={look.text}
          onInput={(event) => setLook({ text: event.currentTarget.value || null })}
        />
        <kbd>/</kbd>
      </label>
      {hasMine(noun) && (
        <button type="button" aria-pressed={look.isMine} onClick={() => setLook({ mine: look.isMine ? null : '1' })}>
          <Icon name="person" /> <span class="button-label">{t('Mine')}</span>
        </button>
      )}
      <button type="button" aria-expanded={props.isFiltering} onClick={props.onFilter}>
        <Icon name="filter" />{' '}
        <span class="button-label">{t('Filter{}', conditions > 0 ? ` · ${conditions}` : '')}</span>
      </button>
      {look.layout === 'table' && (
        <Menu
          label={look.group === null ? t('Group') : t('By {}', inSentence(look.group))}
          icon="group"
          items={[
            { label: t('No groups'), chosen: look.group === null, onSelect: () => setLook({ group: null }) },
            ...fields.map((name) => ({
              label: isTimed(noun, name) ? t('{}, by month', labelOf(name)) : labelOf(name),
              chosen: look.group === name,
              onSelect: () => setLook({ group: name }),
            })),
          ]}
        />
      )}
      {look.layout === 'board' && <SortMenu noun={noun} look={look} />}
      <button type="button" class="wide-only" onClick={props.onColumns}>
        <Icon name="columns" /> {t('Columns')}
      </button>
      <span class="spring" />
      {layouts.length > 1 && (
        <Tabs
          label={t('Layout')}
          value={look.layout}
          options={layouts}
          onChange={(layout) => setLook({ layout: layout === 'table' ? null : layout, month: null })}
        />
      )}
    </search>
  )
}
