export { CellReader, type CellRow, LONGEST_ROW, TOO_LONG } from './cells.ts'
export { anyDecoder, charsetOf, type Decoder, utf8Decoder } from './charset.ts'
export { type Layout, layoutOf } from './layout.ts'
