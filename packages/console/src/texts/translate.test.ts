import { expect, test } from 'vitest'
import { translatorOf } from './translate.ts'

test('a text is translated with the spaces around it, patterns with what changes in them, and the rest stays', () => {
  const translate = translatorOf({ Home: 'Start', deal: 'Geschäft', 'New {}': 'Neu: {}', '{} of {}': '{} von {}' })

  expect(['Home', ' Home ', 'New deal', 'New $& thing', '1–25 of 32', 'Home sweet home'].map(translate)).toEqual([
    'Start',
    ' Start ',
    'Neu: Geschäft',
    'Neu: $& thing',
    '1–25 von 32',
    'Home sweet home',
  ])
})
