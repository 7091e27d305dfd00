import { t } from '../texts/text.ts'
import { dismiss, toasts } from '../toast.ts'
import { Icon } from './icon.tsx'

/** The messages at the edge of the page. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, tone, action }) => (
        <div class={`toast ${tone}`} key={id}>
          <span>{text}</span>
          {action && (
            <button
              type="button"
              onClick={() => {
                dismiss(id)
                action.run()
              }}
            >
              {action.label}
            </button>
          )}
          <button type="button" class="quiet icon-only" aria-label={t('Dismiss')} onClick={() => dismiss(id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  )
}
