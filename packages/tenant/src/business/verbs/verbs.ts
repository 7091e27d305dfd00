import type { SpecialVerb } from '../../write/write.ts'
import { analyzeFunnel } from '../funnel.ts'
import { createGoal, updateGoal } from '../metrics/goals.ts'
import { refreshSegment } from '../metrics/segment.ts'
import { cancelSubscription } from './cancel-subscription.ts'
import { convertLead } from './convert-lead.ts'
import { mergeContact } from './merge-contact.ts'
import { revertDeal } from './revert-deal.ts'

/** The verbs of business types that do more than set fields. */
export const businessVerbs: { readonly [name: string]: SpecialVerb } = {
  'Contact.merge': mergeContact,
  'Deal.revert': revertDeal,
  'Funnel.analyze': analyzeFunnel,
  'Goal.create': createGoal,
  'Goal.update': updateGoal,
  'Lead.convert': convertLead,
  'Segment.refresh': refreshSegment,
  'Subscription.cancel': cancelSubscription,
}
