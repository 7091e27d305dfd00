import { RE2JS } from 're2js'

/** Reports what is wrong with a pattern, or null when it can be used. */
export function regexFault(pattern: string, flags: string): string | null {
  try {
    compilePattern(pattern, flags)
    return null
  } catch (reason) {
    return reason instanceof Error ? reason.message : String(reason)
  }
}

/** A pattern made ready to test texts, in time linear in their length. */
export function regexTest(pattern: string, flags: string): (text: string) => boolean {
  const compiled = compilePattern(pattern, flags)
  return (text) => compiled.test(text)
}

function compilePattern(pattern: string, flags: string): RE2JS {
  const bits = { i: RE2JS.CASE_INSENSITIVE, m: RE2JS.MULTILINE, s: RE2JS.DOTALL }
  return RE2JS.compile(
    pattern,
    [...flags].reduce((all, flag) => all | bits[flag as 'i'], 0),
  )
}
