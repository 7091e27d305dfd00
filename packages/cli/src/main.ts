import type { Call } from './command.ts'
import { commandOf, isCommand } from './commands.ts'
import { failureOf } from './failure.ts'
import { helpFor, overview } from './help.ts'
import { linkTo, TaskBegun } from './link/link.ts'
import { freshKey } from './login/refresh.ts'
import { outputTo } from './output/output.ts'
import { firstLook, readFlags, refuseUnheeded } from './parse/flags.ts'
import { UsageError } from './parse/usage-error.ts'
import { type Settings, settingsOf } from './settings.ts'

// A reader that closes the pipe early, such as head, is not a failure.
process.stdout.on('error', (reason: NodeJS.ErrnoException) => {
  if (reason.code === 'EPIPE') process.exit(0)
  throw reason
})

const args = process.argv.slice(2)
try {
  await run(['--version', '-v'].includes(args[0]!) ? ['version', ...args.slice(1)] : args)
} catch (reason) {
  const { sentence, code, json } = failureOf(reason)
  process.stderr.write(args.includes('--json') ? `${JSON.stringify(json)}\n` : `tilde: ${sentence}\n`)
  process.exitCode = code
}

async function run(args: readonly string[]): Promise<void> {
  const { word, rest, given, instead } = firstLook(args)
  const settings = await withFreshKey(settingsOf(given, process.env))
  const color = process.stdout.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb'
  const out = outputTo(process.stdout, process.stderr, { json: settings.json, color })
  if (word === undefined) {
    readFlags({ usage: '', flags: {} }, args)
    if (given.has('help')) return out.line(overview())
    process.stderr.write(`${overview()}\n`)
    process.exitCode = 2
    return
  }
  if (given.has('help')) return out.line(await helpFor(word))
  if (instead !== undefined && !isCommand(word))
    throw new UsageError(`There is no command ${word}. Write flags after the command: tilde ${instead}`)
  const { command, args: own } = await commandOf(word, rest, () => linkTo(settings))
  const { words, given: flags } = readFlags(command, own)
  refuseUnheeded(command, flags)
  const call: Call = { words, flags, settings, out, link: () => linkTo(settings) }
  try {
    await command.run(call)
  } catch (reason) {
    if (!(reason instanceof TaskBegun)) throw reason
    out.value(settings.json ? reason.task : reason.message)
  }
}

/** A person's key is valid for an hour; it is renewed before use. */
async function withFreshKey(settings: Settings): Promise<Settings> {
  if (!settings.isSaved) return settings
  const key = await freshKey(process.env, settings.profile)
  return key === undefined ? settings : { ...settings, key }
}
