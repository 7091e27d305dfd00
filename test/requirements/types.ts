import { requirements } from './requirement.ts'

/** What types can declare beyond fields and verbs, and how they change. */
export const types = requirements('rest', {
  C11: {
    'relation.targets': 'A relation can have several target types; the type of the id decides which one is checked.',
    'relation.targets.include':
      'include embeds the entity with its $type, and filters apply to each target with the field.',
    'relation.people': 'owner, assignee, author, reporter, createdBy and uploadedBy accept a User or a Contact.',
    'comment.about':
      'A Comment is about an entity of any type; who can read the entity can read and write its comments.',
    'comment.mention': '@name in a Comment mentions a User.',
  },
  C12: {
    'deal.forward': 'Deal.advance only moves forward, and Deal.revert moves back to a stage.',
    'ticket.start': 'Ticket has start and hold; Issue has start and finish.',
    'contact.assign': 'Contact.assign sets owner.',
  },
  R3: {
    'contact.merge': 'Contact.merge moves all references to the target, fills its empty fields and deletes the source.',
    'contact.merge.undo': 'A merge is one transaction that undo reverts.',
    'lead.convert': 'Lead.convert creates or links Contact, Organization and Deal.',
    'lead.convert.own': 'What Lead.convert is not given stays as the lead has it; a refused one creates nothing.',
    'form.submissions': 'Form.submit stores the submission in its event; GET …/Form/:id/submissions lists them.',
    'invoice.totals':
      'subtotal, total and amountDue of an Invoice are computed from lineItems, discount, tax and amountPaid.',
    'invoice.given': 'Totals of an Invoice that are given stay.',
    'catalogue.reachable': 'Every verb of the built-in types can be reached from a state that entities begin in.',
    'subscription.cancel': 'Subscription.cancel with cancelAtPeriodEnd keeps the status until the period ends.',
  },
  R4: {
    'guard.state': 'Only verbs change a guarded state; else 409 invalid_transition with the verbs that lead there.',
    'guard.start': 'A guarded type accepts the default or a declared start state at creation.',
    'guard.ways': 'Guards apply to imports, batches and syncs too.',
    'guard.default': 'Built-in types are not guarded by default.',
  },
  R5: {
    'computed.expression':
      'A computed field is an expression over own fields and relations with sum, count, min, max and avg.',
    'computed.query': 'Computed fields can be filtered, sorted and aggregated, also with asOf and in the history.',
    'computed.readonly': 'Writing a computed field answers 422 with the field; imports and syncs leave it out.',
    'computed.consistent': 'Computed fields follow creates, updates, deletes, restores, rollbacks and undos at once.',
    'computed.import': 'An import works out a computed field once per entity and slice.',
    'computed.backfill': 'Declaring a computed field works it out for stored entities.',
    'computed.bounded': 'A change that leads to too many computed fields is refused and writes nothing.',
    'unique.together': 'Fields that are unique together answer 409 conflict with their names.',
    'unique.together.ways': 'Imports, syncs, restores and undos keep fields unique together.',
    'unique.together.stored': 'Declaring fields unique together is refused when stored entities repeat them.',
    'number.range': 'A number with a range is checked, also in OpenAPI.',
    'rename.migrates': 'A rename changes the declaration and the stored entities, each with an event.',
    'rename.past': 'asOf before a rename shows the old name; rollback and restore use the new one.',
    'retype.converts': 'A retype converts stored values; the past keeps the old ones.',
    'retype.refuses': 'A retype that cannot convert an entity names it and changes nothing.',
    'migration.dryRun': 'A rename or retype with dryRun changes nothing.',
  },
  R7: {
    'schema.about': 'PUT …/schema/:Type with only $ keys keeps the rest of the declaration.',
  },
  Z1: {
    'schema.plan': 'A plan lists the requests that make a tenant as declared; after them it is empty.',
    'schema.plan.extends': 'A declaration of a built-in type adds to it and replaces nothing.',
    'schema.plan.migrations': 'A plan renames fields and converts stored values, and counts the entities.',
    'schema.plan.loses': 'A plan counts the entities with a value in a field that is removed.',
    'schema.plan.refuses': 'A plan that the data or the rights do not allow is refused, and the step is named.',
    'schema.plan.others': 'A plan leaves things alone that are not declared, unless it is asked to delete them.',
    'schema.push.twice': 'A second push changes nothing.',
    'schema.push.asks': 'A push asks before anything is lost; without a terminal it needs --yes.',
    'schema.push.all': 'A push changes one tenant, or all of them.',
    'schema.push.task': 'A push that becomes a task is awaited, and ends with its result.',
    'schema.push.rights': 'All that a push stores is stored with the rights of the key that pushes.',
    'schema.prune': 'Things that a folder does not declare are listed, and deleted with --prune.',
    'schema.pull': 'A pull writes files that make the tenant as it is.',
    'schema.code': 'Code of hooks and workflows is TypeScript in a file, and is tested with a moved clock.',
    'schema.contradiction': 'Types of the program that contradict those of a tenant are reported and lock no tenant.',
    'schema.program.migration':
      'Entities that a changed type of the program does not fit are reported, and can be migrated.',
  },
  Z2: {
    'schema.types': 'The written declarations know fields, relations, verbs with their states, and includes.',
    'schema.create': 'A new project has the folder, a seed script, an example app and a test, and works.',
  },
})
