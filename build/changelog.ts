/** The changelog with a release: what was unreleased, and the texts of the changesets, under its version and date. */
export function withRelease(changelog: string, version: string, date: string, texts: readonly string[]): string {
  const [, head = '', unreleased = '', rest = ''] =
    /^([\s\S]*?)## \[Unreleased\]\n([\s\S]*?)(?=\n## \[|$)([\s\S]*)$/.exec(changelog) ?? []
  if (head === '') throw new Error('CHANGELOG.md has no section [Unreleased].')
  const entries = texts.map((text) => `- ${text.replaceAll('\n', '\n  ')}`).join('\n')
  const body = [unreleased.trim(), entries].filter(Boolean).join('\n')
  return `${head}## [Unreleased]\n\n## [${version}] - ${date}\n\n${body}\n${rest === '' ? '' : `\n${rest.trimStart()}`}`
}
