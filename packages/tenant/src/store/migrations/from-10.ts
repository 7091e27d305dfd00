import { FILES } from '../files/file-tables.ts'

/** From layout 10 to 11: the contents of files. */
export const FROM_10: readonly string[] = FILES
