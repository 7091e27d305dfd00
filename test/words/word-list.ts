/** A word or phrase that we do not use, and what to write instead. */
export type Rule = { readonly pattern: RegExp; readonly instead: string }

/** The words of the guide in CONTRIBUTING.md that a program can find. */
export const RULES: readonly Rule[] = [
  ...rules('name the person or the part: the caller, the operator, another request, no key', [
    'whoever',
    'somebody',
    'nobody',
    'anybody',
    'everybody',
    'who (?:asks|writes|reads|may|holds|knows|looks|sends|waits|comes|gets|calls)',
    '(?<=\\b(?:that|which|what|as|if|where|how|when) )one may',
  ]),
  ...rules('say who reports what: returns, reports, shows; "by default" for "unless told"', ['told']),
  ...rules('is, are; has; follows', ['stands?', 'stood', 'standing']),
  ...rules('continues', ['goes on', 'go on', 'going on', 'went on', 'gone on']),
  ...rules('in progress, running, open', ['under way', 'on its way']),
  ...rules('requires, needs, asks for', ['wants?', 'wanted']),
  ...rules('automatically, alone, without a request', ['by (?:itself|themselves)']),
  ...rules('separately, each', ['for (?:itself|themselves)']),
  ...rules('again', ['anew']),
  ...rules('permanently, finally', ['for good', 'for ever', 'once and for all']),
  ...rules('without effect, unnecessary', ['for nothing(?! (?:but|else))', 'in vain', '(?:of|is) no use']),
  ...rules('test that …, check that …', ['(?<=^|[^\\w\\s]\\s*)prove that']),
  ...rules('is not a …', [
    '(?<!\\b(?:there|it) )(?:is|are) no(?! (?:longer|more|less|later|earlier|older|newer|other|such)\\b)',
  ]),
  ...rules('use the technical noun', [
    'households?',
    'chores?',
    'errands?',
    'furnish\\w*',
    'watchtowers?',
    'strangers?',
    'brim',
    'at a glance',
    'in the making',
    'heed',
    'bearable',
    'the like',
    'to be had',
    'of our own making',
    'word too many',
  ]),
  ...rules('available, present; if necessary', ['at hand', 'to hand', 'if need be', 'need be']),
  ...rules('is enough, works', ['will do']),
  ...rules('inverse relation', ['ways? back']),
  ...rules('modern English', [
    'thereof',
    'hence',
    'henceforth',
    'thus',
    'whence',
    'lest',
    'upon',
    'ought',
    'shall',
    'naught',
    'therein',
    'whereupon',
  ]),
]

function rules(instead: string, phrases: readonly string[]): readonly Rule[] {
  return phrases.map((phrase) => ({ pattern: new RegExp(`\\b${phrase}\\b`, 'i'), instead }))
}
