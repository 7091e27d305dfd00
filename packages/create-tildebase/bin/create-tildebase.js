#!/usr/bin/env node
// "npm create tildebase fleet" is "tilde init fleet".
process.argv.splice(2, 0, 'init')
await import('@tildebase/cli/bin/tilde.js')
