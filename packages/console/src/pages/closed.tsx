import { t } from '../texts/text.ts'
import { EmptyState } from '../ui/states.tsx'

/** An address that leads nowhere: the tenant does not have it, or the key or the role does not reach it. */
export function ClosedPage({ to, isUnknown = false }: { to: string; isUnknown?: boolean }) {
  if (isUnknown) {
    return (
      <>
        <h1 class="unseen">{t('Not found')}</h1>
        <EmptyState icon="search" title={t('There is no {} here.', to)} />
      </>
    )
  }
  return (
    <>
      <h1 class="unseen">{to}</h1>
      <EmptyState icon="shield" title={t('You have no access to {}', to)}>
        <p>{t('Your role or key does not include it. An administrator can change that.')}</p>
      </EmptyState>
    </>
  )
}
