import { useParser } from '../notation/declare.ts'
import { extended } from '../notation/extended.ts'
import { parseNoun } from '../notation/notation.ts'
import type { JsonObject, Noun } from '../noun.ts'
import { isPlainObject } from '../value/json.ts'
import { Event, Funnel, Goal, Metric } from './analytics.ts'
import { Customer, Invoice, Payment, Plan, Price, Product, Subscription } from './billing.ts'
import { Message } from './communication.ts'
import { Asset, Content, Site } from './content.ts'
import { Activity, Contact, Deal, Lead, Organization, Pipeline } from './crm.ts'
import { Experiment, FeatureFlag } from './experiments.ts'
import { ApiKey, User } from './identity.ts'
import { Campaign, Form, Segment } from './marketing.ts'
import { Agent, Changeset, Integration, Webhook, Workflow } from './platform.ts'
import { Comment, Issue, Project } from './projects.ts'
import { Ticket } from './support.ts'

/** The types that every tenant has, by name. */
export const catalogue = {
  Activity,
  Contact,
  Deal,
  Lead,
  Organization,
  Pipeline,
  Customer,
  Invoice,
  Payment,
  Plan,
  Price,
  Product,
  Subscription,
  Comment,
  Issue,
  Project,
  Asset,
  Content,
  Site,
  Ticket,
  Event,
  Funnel,
  Goal,
  Metric,
  Campaign,
  Form,
  Segment,
  Experiment,
  FeatureFlag,
  Agent,
  Integration,
  Workflow,
  ApiKey,
  User,
  Message,
  Webhook,
  Changeset,
} as const

/** The types that every tenant has, with their TypeScript types. */
export type Catalogue = typeof catalogue

// A declaration with the name of a built-in type adds to it: it may use the fields and states that are there.
useParser((name, notation, options) => {
  const builtIn = Object.hasOwn(catalogue, name) ? (catalogue[name as keyof Catalogue] as Noun) : undefined
  if (!builtIn || !isPlainObject(notation)) return parseNoun(name, notation, options)
  const added = notation as JsonObject
  return { ...extended(builtIn, added, options), notation: added }
})
