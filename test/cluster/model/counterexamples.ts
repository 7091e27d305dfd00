import type { Step } from './explore.ts'

/** A guard of the code, and a history that it prevents. */
export interface Counterexample {
  /** The guards that are left out. */
  readonly without: readonly string[]
  /** The invariant that the last step violates. */
  readonly violates: string
  readonly steps: readonly Step[]
}

const list = (text: string): readonly Step[] =>
  text
    .trim()
    .split(/\s*[,\n]\s*/)
    .filter((step) => step !== '')

/** A node owns the tenant. */
const open = (node: string) => `own ${node}, claim ${node}, replicate, claimAnswered ${node}, open ${node}`
export const BEGIN = list(`start n1, start n2, ${open('n1')}`)
/** A write that is acknowledged. */
const write = (node: string, number: number) =>
  `write ${node} ${number}, executeAppend ${node}, replicate, appendAnswered ${node}`
/** The other node is silent for a lease. Both began at the same moment. */
const expire = (node: string) => `beat ${node}, tick 5, beat ${node}`
const takeOver = (node: string) => `${expire(node)}, ${open(node)}`

const after = (without: string, violates: string, text: string): Counterexample => ({
  without: without.split(' '),
  violates,
  steps: [...BEGIN, ...list(text)],
})

/** The shortest histories that we know, one for each guard. */
export const COUNTEREXAMPLES: readonly Counterexample[] = [
  after('fence', 'nothingLost', `write n1 1, ${takeOver('n2')}, ${write('n2', 2)}, executeAppend n1`),
  after('epoch', 'oneAppender', `write n1 1, executeAppend n1, ${takeOver('n2')}, write n2 2, executeAppend n2`),
  after('alive', 'freshAnswers', `${open('n2')}, ${write('n2', 1)}, read n1`),
  after('gate', 'nothingLost', 'write n1 1'),
  after('lease', 'freshAnswers', `${takeOver('n2')}, ${write('n2', 1)}, read n1`),
  after('sleep', 'freshAnswers', `beat n2, sleep n1 4, tick 1, beat n2, ${open('n2')}, ${write('n2', 1)}, read n1`),
  after(
    'sent',
    'freshAnswers',
    `beatSlowly n1, beat n2, tick 5, beatAnswered n1, beat n2, ${open('n2')}, ${write('n2', 1)}, read n1`,
  ),
  after(
    'expire',
    'freshAnswers',
    `beat n2, tick 5, beatSlowly n2, beat n1, beatAnswered n2, ${open('n2')}, ${write('n2', 1)}, read n1`,
  ),
  after('standby', 'nothingLost', 'write n1 1, executeAppend n1, appendAnswered n1, failOver'),
  after(
    'settle',
    'nothingLost',
    'write n1 1, executeAppend n1, appendFails n1, settle n1, settleAnswered n1, failOver',
  ),
  after(
    'before',
    'ownerHasLog',
    `write n1 1, crash n1, ${takeOver('n2')}, ${write('n2', 2)}, ${write('n2', 3)},
     crash n2, start n1, ${takeOver('n1')}`,
  ),
  after(
    'verify same',
    'ownerHasLog',
    `write n1 1, crash n1, ${takeOver('n2')}, ${write('n2', 2)}, crash n2, start n1, ${takeOver('n1')}`,
  ),
  after(
    'same',
    'ownerHasLog',
    `write n1 1, executeAppend n1, failOver, crash n1 1, ${takeOver('n2')}, ${write('n2', 2)},
     crash n2, start n1, ${expire('n1')}, own n1, claim n1, replicate, claimAnswered n1, open n1 1`,
  ),
  after(
    'head',
    'ownerHasLog',
    `failOver, ${write('n1', 1)}, ${expire('n2')}, own n2, claim n2, replicate, claimAnswered n2, open n2 1`,
  ),
  after('published', 'snapshotAndTail', `keep, ${write('n1', 1)}, copyFile n1, goBack, publish n1`),
  after('published wait', 'snapshotAndTail', 'write n1 1, copyFile n1, publish n1'),
  after('release', 'movesWhole', 'write n1 1, leave n1, release n1'),
  after('heads', 'lossNoticed', `keep, ${write('n1', 1)}, goBack 1, beat n1`),
  {
    without: ['owner'],
    violates: 'lossNoticed',
    steps: list(`start n1, start n2, keep, ${open('n1')}, ${write('n1', 1)}, goBack 1,
      ${open('n2')}, ${write('n2', 2)}, write n1 3, executeAppend n1`),
  },
  after(
    'reopening',
    'lossNoticed',
    `keep, ${write('n1', 1)}, reopen n1, goBack 1, claim n1, replicate, claimAnswered n1, open n1`,
  ),
  after('mark', 'timelineKept', 'failOver, beat n1, goBack, beat n1'),
]
