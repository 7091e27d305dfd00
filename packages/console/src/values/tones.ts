import { signal } from '@preact/signals'
import { t } from '../texts/text.ts'

/** What a colour means: new, in progress, waiting, nearly done, done, lost, or none of these. */
export type Tone = 'new' | 'busy' | 'wait' | 'near' | 'good' | 'bad' | 'dim'

/** The tones with the names of their colours. */
export const TONES: { readonly [tone in Tone]: string } = {
  new: t('blue'),
  busy: t('violet'),
  wait: t('amber'),
  near: t('turquoise'),
  good: t('green'),
  bad: t('red'),
  dim: t('grey'),
}

/** The tones that the tenant chose for words of its own. */
const chosen = signal<{ readonly [word: string]: Tone }>({})

export function setTones(tones: unknown): void {
  const pairs = typeof tones === 'object' && tones !== null ? Object.entries(tones) : []
  chosen.value = Object.fromEntries(pairs.filter((pair): pair is [string, Tone] => pair[1] in TONES))
}

const WORDS: { readonly [tone in Tone]: RegExp } = {
  good: /^(active|activated|won|paid|delivered|customer|converted|completed?|done|resolved|published|approved|succeeded|sent|qualified|verified|accepted|enabled|connected|live|high fit|partner)$/i,
  bad: /^(lost|failed|failing|exhausted|revoked|churned|bounced|past ?due|overdue|rejected|unpaid|urgent|error|blocked|escalated|uncollectible|suspended|disputed|blocker)$/i,
  wait: /^(pending|paused|trialing|trial|proposal|review|scheduled|invited|high|waiting|on ?hold|reopened|draft ?ready|stale|influencer)$/i,
  near: /^(negotiation|closing|testing|acceptance|contract|champion|medium)$/i,
  dim: /^(closed|archived|inactive|expired|cancell?ed|draft|unsubscribed|void|voided|disabled|deprecated|low|ended|deleted|refunded|test)$/i,
  new: /^(new|lead|open|prospecting|created|todo|backlog|visitor|prospect)$/i,
  busy: /^(in ?progress|contacted|qualification|assigned|processing|running|sending|active trial|subscribed|triggered|opened|clicked|decision ?maker)$/i,
}

const RISING: readonly Tone[] = ['new', 'busy', 'wait', 'near']

/** The tone of a state: by its word, and else by how far it is along the order of states. */
export function toneOf(word: string, words: readonly string[] = []): Tone {
  const own = chosen.value[word]
  if (own !== undefined) return own
  for (const [tone, pattern] of Object.entries(WORDS)) if (pattern.test(spaced(word))) return tone as Tone
  const at = words.indexOf(word)
  if (at < 0 || words.length === 0) return 'dim'
  return RISING[Math.floor((at / words.length) * RISING.length)] ?? 'dim'
}

function spaced(word: string): string {
  return word.replace(/([a-z])([A-Z])/g, '$1 $2')
}
