import { type Ask, type Connector, type Found, listIn, type PastValues, pathWith, type Question } from './connector.ts'

interface Version {
  readonly value: string | null
  readonly timestamp: string
  readonly updatedByUserId?: number
}

interface Raw {
  readonly id: string
  readonly createdAt: string
  readonly updatedAt: string
  readonly archived?: boolean
  readonly archivedAt?: string
  readonly properties: { readonly [name: string]: string | null }
  readonly propertiesWithHistory?: { readonly [name: string]: readonly Version[] }
}

/** A page with the past of its records may have so many. */
const PAGE = 50

/** HubSpot: companies, contacts, deals and tickets with the history of their properties. */
export const hubspot: Connector = {
  name: 'hubspot',
  apiUrl: 'https://api.hubapi.com',
  mapping: {
    companies: {
      type: 'Organization',
      fields: {
        name: 'name',
        domain: 'domain',
        website: 'website',
        industry: 'industry',
        city: 'city',
        country: 'country',
        numberofemployees: 'employeeCount',
        annualrevenue: 'annualRevenue',
      },
    },
    contacts: {
      type: 'Contact',
      fields: {
        firstname: 'name',
        lastname: 'name',
        email: 'email',
        phone: 'phone',
        jobtitle: 'title',
        lifecyclestage: 'stage',
        associatedcompanyid: 'organization',
      },
    },
    deals: {
      type: 'Deal',
      fields: { dealname: 'name', amount: 'value', dealstage: 'stage', closedate: 'expectedCloseDate' },
    },
    tickets: {
      type: 'Ticket',
      fields: {
        subject: 'subject',
        content: 'description',
        hs_ticket_priority: 'priority',
        hs_pipeline_stage: 'status',
      },
    },
  },
  headers: (token) => ({ authorization: `Bearer ${token}`, accept: 'application/json' }),
  checkPath: () => '/crm/v3/objects/contacts?limit=1',
  records,
  refersTo: (object, field) => (object === 'contacts' && field === 'associatedcompanyid' ? 'companies' : null),
  words: (object, field) => WORDS[`${object}.${field}`] ?? null,
}

const WORDS: { readonly [field: string]: { readonly [value: string]: string } } = {
  'contacts.lifecyclestage': {
    subscriber: 'Lead',
    lead: 'Lead',
    marketingqualifiedlead: 'Qualified',
    salesqualifiedlead: 'Qualified',
    opportunity: 'Qualified',
    customer: 'Customer',
    evangelist: 'Customer',
  },
  'deals.dealstage': {
    appointmentscheduled: 'Prospecting',
    qualifiedtobuy: 'Qualification',
    presentationscheduled: 'Proposal',
    decisionmakerboughtin: 'Negotiation',
    contractsent: 'Negotiation',
    closedwon: 'Won',
    closedlost: 'Lost',
  },
  'tickets.hs_ticket_priority': { LOW: 'Low', MEDIUM: 'Medium', HIGH: 'High', URGENT: 'Urgent' },
  'tickets.hs_pipeline_stage': { 1: 'Open', 2: 'Pending', 3: 'InProgress', 4: 'Closed' },
}

async function* records(ask: Ask, { object, mapping, since }: Question): AsyncGenerator<Found> {
  const names = Object.keys(mapping.fields).join(',')
  const wanted = since === null ? { propertiesWithHistory: names } : { properties: names }
  for (const archived of [false, true]) {
    for (let after: string | null = null; ; ) {
      const params = {
        limit: String(since === null ? PAGE : 100),
        ...wanted,
        archived: archived ? 'true' : null,
        after,
      }
      const { body } = await ask(pathWith(`/crm/v3/objects/${object}`, params))
      for (const raw of listIn(body?.results) as Raw[]) {
        // What was archived after the last run is deleted now.
        const changed = raw.archivedAt ?? raw.updatedAt
        if (since === null || changed > since) yield since === null ? withPast(raw) : asItIs(raw)
      }
      after = body.paging?.next?.after ?? null
      if (after === null) break
    }
  }
}

function asItIs({ id, createdAt, archived, archivedAt, updatedAt, properties }: Raw): Found {
  return {
    id,
    createdAt,
    updatedAt,
    values: properties,
    past: [],
    ...(archived && { deletedAt: archivedAt ?? updatedAt }),
  }
}

/** The versions of all properties, those of one time together. What was set first belongs to the creation. */
function withPast(raw: Raw): Found {
  const first: { [name: string]: string | null } = {}
  const later = new Map<string, { values: { [name: string]: string | null }; actor?: string }>()
  for (const [name, versions] of Object.entries(raw.propertiesWithHistory ?? {})) {
    for (const { value, timestamp, updatedByUserId } of versions.toSorted((a, b) =>
      a.timestamp < b.timestamp ? -1 : 1,
    )) {
      if (timestamp <= raw.createdAt) first[name] = value
      else {
        const actor = updatedByUserId === undefined ? {} : { actor: `hubspot:user:${updatedByUserId}` }
        const known = later.get(timestamp) ?? { values: {}, ...actor }
        known.values[name] = value
        later.set(timestamp, known)
      }
    }
  }
  const past = [...later].map(([at, change]): PastValues => ({ at, ...change }))
  return { ...asItIs(raw), values: first, past }
}
