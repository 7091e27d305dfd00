import type { ComponentChildren } from 'preact'
import { isUnreachable } from '../service/service.ts'
import { t } from '../texts/text.ts'
import { sentenceOf } from '../toast.ts'
import { Icon, type IconName } from './icon.tsx'

/** What went wrong, where it went wrong, with a way to try again. */
export function Failure({ error, onRetry }: { error: Error | null; onRetry?: () => void }) {
  if (!error) return null
  return (
    <div class="failure" role="alert">
      <span>
        {isUnreachable(error) && onRetry
          ? t('The server cannot be reached. Loaded data stays on the page; it retries automatically.')
          : sentenceOf(error)}
      </span>
      {onRetry && (
        <button type="button" onClick={onRetry}>
          {t('Try again')}
        </button>
      )}
    </div>
  )
}

/** A place where nothing is yet: what belongs here, and the first step. */
export function EmptyState(props: { icon?: IconName; title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      {props.icon && <Icon name={props.icon} />}
      <p class="empty-title">{props.title}</p>
      {props.children !== undefined && <div class="empty-more">{props.children}</div>}
    </div>
  )
}

/** The place of a part that is being loaded. What follows is not shown yet, so that it does not move when it is there. */
export function Loading() {
  return <i class="loading" />
}

/** The shape of what is being loaded. */
export function Skeleton({ rows = 8, label = t('Loading') }: { rows?: number; label?: string }) {
  return (
    <div class="skeleton" role="status" aria-label={label}>
      {Array.from({ length: rows }, (_, at) => (
        <span key={at} />
      ))}
    </div>
  )
}
