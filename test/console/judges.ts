import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { HtmlValidate } from 'html-validate'
import type { Tab } from './browser.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
// The list of a combobox has no native element: a select takes the focus from the field.
const VALIDATE = new HtmlValidate({
  extends: ['html-validate:standard', 'html-validate:a11y'],
  rules: { 'prefer-native-element': ['error', { exclude: ['listbox'] }] },
})

/** What html-validate finds in a page, with its places. */
export async function htmlFaults(text: string, except: readonly string[] = []): Promise<string[]> {
  const { results } = await VALIDATE.validateString(text)
  return results
    .flatMap(({ messages }) => messages)
    .filter(({ ruleId }) => !except.includes(ruleId))
    .map(({ ruleId, line, message, selector }) => `${line} ${ruleId}: ${message} (${selector})`)
}

/** All findings of axe, its good practices included, with their places. */
export async function barriers(page: Tab['page']): Promise<string[]> {
  // The page itself may run no script from elsewhere; the debugger may.
  await page.evaluate(AXE)
  return page.evaluate(async () => {
    const { violations } = await (globalThis as any).axe.run(document, { resultTypes: ['violations'] })
    return violations.flatMap(({ id, impact, nodes }: { id: string; impact: string; nodes: { html: string }[] }) =>
      nodes.map(({ html }) => `${impact} ${id}: ${html.slice(0, 160)}`),
    )
  })
}
