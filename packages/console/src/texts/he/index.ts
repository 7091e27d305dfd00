import { answerIn } from '../answers.ts'
import type { Texts } from '../languages.ts'
import analysis from './analysis.ts'
import answers from './answers.ts'
import automation from './automation.ts'
import choices from './choices.ts'
import entities from './entities.ts'
import fields from './fields.ts'
import frame from './frame.ts'
import home from './home.ts'
import imports from './import.ts'
import lists from './lists.ts'
import nouns from './nouns.ts'
import people from './people.ts'
import types from './types.ts'
import verbs from './verbs.ts'

/** The texts of the console in Hebrew, by the English ones. */
const texts: Texts = {
  ...analysis,
  ...automation,
  ...choices,
  ...entities,
  ...fields,
  ...frame,
  ...home,
  ...imports,
  ...lists,
  ...nouns,
  ...people,
  ...types,
  ...verbs,
}

/** A sentence of the service in this language. */
export const answer = answerIn.bind(null, answers)

export default texts
