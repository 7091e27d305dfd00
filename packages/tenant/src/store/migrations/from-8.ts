import { EFFECTS } from '../automation/effect-tables.ts'

/** From layout 8 to 9: what runs wait for, questions to people, and secrets. */
export const FROM_8: readonly string[] = EFFECTS
