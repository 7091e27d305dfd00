import { t } from '../../texts/text.ts'
import { Icon } from '../../ui/icon.tsx'
import { numberText } from '../../values/format.ts'
import type { ListPage } from '../question.ts'

/** Where a page is in its list, and the ways to the others. */
export function Pager(props: { list: ListPage; page: number; onBack: () => void; onNext: () => void }) {
  const { begin, results, total, hasMore } = props.list
  return (
    <nav class="pager" aria-label={t('Pages')}>
      <button type="button" disabled={props.page === 1} onClick={props.onBack}>
        <Icon name="left" /> {t('Previous')}
      </button>
      <span aria-live="polite">
        {t('{}–{} of {}', numberText(begin + 1), numberText(begin + results.length), numberText(total))}
      </span>
      <button type="button" disabled={!hasMore} onClick={props.onNext}>
        {t('Next')} <Icon name="right" />
      </button>
    </nav>
  )
}
