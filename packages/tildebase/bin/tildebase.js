#!/usr/bin/env node
// "tildebase" serves; "tildebase COMMAND" is "tilde COMMAND".
const [first] = process.argv.slice(2)
const asked = first === undefined || (first.startsWith('-') && !['--help', '-h', '--version', '-v'].includes(first))
if (asked) process.argv.splice(2, 0, 'serve')
await import('@tildebase/cli/bin/tilde.js')
