import type { Connector } from './connector.ts'
import { github } from './github.ts'
import { hubspot } from './hubspot.ts'
import { stripe } from './stripe.ts'

/** The providers that are asked over HTTP, by name. */
export const CONNECTORS: { readonly [name: string]: Connector } = { hubspot, stripe, github }
