// Runs after every install. Where the tools are left out (npm ci --omit=dev) the server does without its console.
import { fileURLToPath } from 'node:url'

const vite = await import('vite').catch(() => null)
if (vite === null) console.log('The console is not built: vite is not installed.')
else await vite.build({ root: fileURLToPath(new URL('.', import.meta.url)), logLevel: 'warn' })
