import { addressing, lenses } from './requirements/addressing.ts'
import { agents } from './requirements/agents.ts'
import { automation } from './requirements/automation.ts'
import { bulk, sync } from './requirements/bulk.ts'
import { changesets } from './requirements/changesets.ts'
import { cluster } from './requirements/cluster.ts'
import { entities, errors, verbs } from './requirements/entities.ts'
import { events } from './requirements/events.ts'
import { files } from './requirements/files.ts'
import { keys } from './requirements/keys.ts'
import { mail } from './requirements/mail.ts'
import { past } from './requirements/past.ts'
import { people } from './requirements/people.ts'
import { proof } from './requirements/proof.ts'
import { query } from './requirements/query.ts'
import { fairness, rights } from './requirements/rights.ts'
import { cli, client, hosts, running } from './requirements/running.ts'
import { batch, mcp, metrics } from './requirements/tools.ts'
import { types } from './requirements/types.ts'
import { webhooks } from './requirements/webhooks.ts'

export type { Requirement } from './requirements/requirement.ts'

/** Every fact that the service promises. What the specification leaves open is under the decision that settles it. */
export const REQUIREMENTS = [
  ...addressing,
  ...entities,
  ...verbs,
  ...errors,
  ...files,
  ...query,
  ...keys,
  ...rights,
  ...people,
  ...fairness,
  ...proof,
  ...lenses,
  ...automation,
  ...mail,
  ...events,
  ...webhooks,
  ...bulk,
  ...past,
  ...sync,
  ...mcp,
  ...agents,
  ...batch,
  ...changesets,
  ...cluster,
  ...metrics,
  ...client,
  ...cli,
  ...hosts,
  ...running,
  ...types,
]

/** The id of a requirement. */
export type RequirementId = (typeof REQUIREMENTS)[number]['id']
