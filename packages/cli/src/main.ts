import { serve } from './serve.ts'

const [command, ...args] = process.argv.slice(2)

if (command === 'serve') await serve(args)
else {
  process.stderr.write(`tilde: there is no command ${command ?? ''}. Try: tilde serve\n`)
  process.exitCode = 2
}
