// Builds what Node does not run from the sources: the console, the viewer of /docs and the modules of the Worker. npm runs it
// after an install. "npm start" adds --missing: it builds what an install without scripts (--ignore-scripts) has left out.
import { existsSync } from 'node:fs'
import { URL } from 'node:url'

const made = ['../packages/console/dist/index.html', '../packages/server/dist/viewer'].map(
  (path) => new URL(path, import.meta.url),
)
if (!process.argv.includes('--missing') || !made.every((file) => existsSync(file))) {
  await import('../packages/console/build.js')
  await import('../packages/server/build.js')
}
