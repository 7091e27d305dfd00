/** The words of a string, in lower case and without accents: what full-text search compares. */
export function wordsOf(text: string): string[] {
  const plain = text
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase()
  return plain.match(/[\p{L}\p{N}\p{Co}]+/gu) ?? []
}
