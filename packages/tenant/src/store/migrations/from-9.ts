import { FILES } from '../files/file-tables.ts'

/** From layout 9 to 10: the contents of files. */
export const FROM_9: readonly string[] = FILES
