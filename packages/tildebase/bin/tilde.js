#!/usr/bin/env node
import '@tildebase/cli/bin/tilde.js'
