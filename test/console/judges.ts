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

/** The serious and critical findings of axe, with their places. The rest is printed. */
export async function barriers(page: Tab['page']): Promise<string[]> {
  // The page itself may run no script from elsewhere; the debugger may.
  await page.evaluate(AXE)
  const found: { impact: string; text: string }[] = await page.evaluate(async () => {
    const { violations } = await (globalThis as any).axe.run(document, { resultTypes: ['violations'] })
    return violations.flatMap(({ id, impact, nodes }: { id: string; impact: string; nodes: { html: string }[] }) =>
      nodes.map(({ html }) => ({ impact, text: `${id}: ${html.slice(0, 160)}` })),
    )
  })
  const serious = found.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  for (const one of found) if (!serious.includes(one)) process.stdout.write(`${one.impact} ${one.text}\n`)
  return serious.map(({ text }) => text)
}
