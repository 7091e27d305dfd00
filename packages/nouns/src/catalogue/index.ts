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
