import { MAILS } from '../mail/mail-tables.ts'

/** From layout 12 to 13: e-mail, and what people are to know of. */
export const FROM_12: readonly string[] = MAILS
