import { render } from 'preact'
import { App } from './app.tsx'
import { preferences } from './preferences.ts'
import { LANGUAGES, loadTexts } from './texts/languages.ts'
import { translateWith } from './texts/translate.ts'

const { language } = preferences.value
const texts = await loadTexts(language).catch(() => null)
if (texts !== null) {
  document.documentElement.lang = language
  document.documentElement.dir = LANGUAGES[language].dir
  translateWith(texts)
}
render(<App />, document.getElementById('console')!)
