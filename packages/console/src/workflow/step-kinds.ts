import { t } from '../texts/text.ts'

/** What a step does. */
export type StepKind = 'verb' | 'code' | 'request' | 'wait' | 'until' | 'waitFor' | 'ask' | 'send'

export const STEP_KINDS: { readonly [kind in StepKind]: string } = {
  verb: t('Change an entry'),
  code: t('Run code'),
  request: t('Call another service'),
  wait: t('Wait for a while'),
  until: t('Wait until a time'),
  waitFor: t('Wait for an event'),
  ask: t('Ask a person'),
  send: t('Send a message'),
}
