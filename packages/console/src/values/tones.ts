/** What a colour means: new, in progress, waiting, done, lost, or none of these. */
export type Tone = 'new' | 'busy' | 'wait' | 'good' | 'bad' | 'dim'

const WORDS: { readonly [tone in Tone]: RegExp } = {
  good: /^(active|activated|won|paid|delivered|customer|converted|completed?|done|resolved|published|approved|succeeded|sent|qualified|verified|accepted|enabled|connected|live|high fit|partner)$/i,
  bad: /^(lost|failed|failing|exhausted|revoked|churned|bounced|past ?due|overdue|rejected|unpaid|urgent|error|blocked|escalated|uncollectible|suspended|disputed|blocker)$/i,
  wait: /^(pending|paused|trialing|trial|proposal|review|scheduled|invited|high|waiting|on ?hold|reopened|draft ?ready|negotiation|stale|influencer)$/i,
  dim: /^(closed|archived|inactive|expired|cancell?ed|draft|unsubscribed|void|voided|disabled|deprecated|low|ended|deleted|refunded|test)$/i,
  new: /^(new|lead|open|prospecting|created|todo|backlog|visitor|prospect|medium)$/i,
  busy: /^(in ?progress|contacted|qualification|assigned|processing|running|sending|active trial|subscribed|triggered|opened|clicked|decision ?maker|champion)$/i,
}

const RISING: readonly Tone[] = ['new', 'busy', 'busy', 'wait']

/** The tone of a state: by its word, and else by how far it is along the order of states. */
export function toneOf(word: string, words: readonly string[] = []): Tone {
  for (const [tone, pattern] of Object.entries(WORDS)) if (pattern.test(spaced(word))) return tone as Tone
  const at = words.indexOf(word)
  if (at < 0 || words.length === 0) return 'dim'
  return RISING[Math.floor((at / words.length) * RISING.length)] ?? 'dim'
}

function spaced(word: string): string {
  return word.replace(/([a-z])([A-Z])/g, '$1 $2')
}
