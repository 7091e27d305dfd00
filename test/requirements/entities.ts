import { requirements } from './requirement.ts'

/** What entities look like and how they are created, read, updated and deleted. */
export const entities = requirements('rest', {
  'service.md#Fields that every entity has': {
    'meta.id.form': '$id has the form <type>_<token> and is generated on create.',
    'meta.type': '$type is the name of the entity’s type.',
    'meta.context': '$context is the tenant’s namespace URL {base_url}/~{tenant}.',
    'meta.version': '$version is an integer that counts per entity and per tenant.',
    'meta.times': '$createdAt and $updatedAt are ISO 8601 datetimes.',
    'meta.times.plain': 'Responses show createdAt and updatedAt as well.',
    'meta.createdBy': '$createdBy names the creator.',
  },
  'service.md#Reading and writing': {
    'rest.list': 'GET /:type answers a list response.',
    'rest.create': 'POST /:type answers the new entity, with its $id, $type, createdAt and updatedAt.',
    'rest.get': 'GET /:type/:id answers one entity.',
    'rest.get.include': 'GET /:type/:id embeds an included relation as an object, or as an array if it is to many.',
    'rest.get.fields': 'GET /:type/:id takes the parameter fields.',
    'rest.put': 'PUT /:type/:id merges a partial update into the entity and answers the updated entity.',
    'rest.delete': 'DELETE /:type/:id is a soft delete and answers 204 without content.',
    'rest.verb': 'POST /:type/:id/:verb runs the lifecycle of the verb, with optional arguments in the body.',
  },
  'service.md#The answer of a list': {
    'list.shape': 'A list response has results, total, hasMore and cursor.',
  },
  'service.md#The past': {
    'version.counter': 'Every entity has its counter $version.',
    'asOf.state': 'asOf returns entities as they were at that time.',
    'asOf.deleted': 'An entity deleted later is returned as of a time before its deletion.',
    'asOf.changed': 'An entity changed later is returned as of a time before with its former fields.',
  },
  C1: {
    'id.token': 'The token of an $id has 16 or more base62 characters.',
    'id.sortable': 'Tokens sort by the time of their creation.',
    'id.camel': 'The type stands in camelCase before the underscore: contact_, apiKey_, featureFlag_.',
    'meta.all': 'Responses carry all seven meta-fields and also createdAt and updatedAt.',
    'meta.request.ignored': 'Meta-fields in a request body are ignored.',
    'meta.request.id': 'A well-formed $id is kept in import and sync.',
  },
  C2: {
    'status.create': 'Create answers 201.',
    'status.ok': 'Read, update and verbs answer 200.',
    'status.delete': 'Delete answers 204.',
    'rest.patch': 'PATCH is PUT.',
  },
  C3: {
    'noun.notation': 'Types are declared in the noun notation.',
    'noun.check.type': 'A declared field of another type than declared is refused.',
    'noun.check.required': 'A draft that lacks a required field is refused.',
    'noun.check.enum': 'A value outside the declared enum is refused.',
    'noun.check.unique': 'A second entity with the same value of a unique field is refused.',
    'noun.undeclared': 'Undeclared fields are stored as given.',
    'noun.strict': 'A strict type refuses undeclared fields.',
    'noun.datetime': 'Datetimes are normalised to UTC milliseconds.',
    'noun.default': 'A declared default fills the field of a draft that leaves it out.',
    'schema.put': 'PUT /~{tenant}/schema/:Type declares a type in the noun notation.',
  },
  C4: {
    'update.merge': 'Update merges at the top level.',
    'update.null': 'A null in an update clears the field.',
    'update.nothing': 'An update that changes nothing keeps the version and emits nothing.',
  },
  C5: {
    'reference.exists': 'A reference to no existing entity of the target type in the tenant answers 422.',
    'reference.deleted': 'A referenced entity can be deleted.',
    'reference.include': 'include shows null for a reference to a deleted entity.',
  },
  C8: {
    'etag.read': 'Reads carry ETag "<$version>".',
    'etag.ifMatch': 'If-Match with another version on update, delete or verb answers 412 version_mismatch.',
    'etag.ifNoneMatch': 'If-None-Match with the current version answers 304.',
    'idempotency.replay': 'The same Idempotency-Key and body on a POST within 24 hours replays the first answer.',
    'idempotency.expiry': 'An Idempotency-Key is free again after 24 hours.',
    'idempotency.mismatch': 'The same Idempotency-Key with another body answers 422 idempotency_mismatch.',
  },
  C9: {
    'unique.conflict': 'A unique violation answers 409 conflict with the field.',
  },
  C10: {
    'get.asOf': 'Get accepts asOf.',
    'list.asOf': 'Lists accept asOf.',
    'asOf.relative': 'asOf is a time, now, today, 7d ago, or a seq, wherever it is accepted.',
    'fields.list': 'fields is a comma-separated list of the fields to return.',
    'fields.identity': '$id and $type come along with any fields.',
  },
  M3: {
    'idempotency.owner': 'An Idempotency-Key belongs to one API key, method and path.',
    'idempotency.secret': 'Replaying the creation of an ApiKey or a Webhook leaves the secret out.',
  },
})

/** How verbs run, from the hook before to the hook after. */
export const verbs = requirements('rest', {
  'service.md#Types and verbs': {
    'type.declared': 'A declaration of a type has fields, and verbs if the type needs them.',
    'verb.lifecycle':
      'Every verb, built-in or custom, runs its BEFORE hook, its execution and its AFTER hook in this order.',
    'verb.names': 'The three steps are named by present participle, imperative and past participle.',
    'verb.event': 'Each verb writes an event with the past tense as its name.',
    'verb.custom.lifecycle': 'A verb that a type adds runs the three steps in their order.',
  },
  'service.md#The past': {
    'log.every': 'Every mutation is recorded in the event log.',
    'log.immutable': 'The event log is append-only; its records never change.',
    'delete.soft': 'A deleted entity stays in the log, and asOf finds it.',
  },
  C6: {
    'verb.declared': 'A verb is declared with its event name, and with from states and fields to set where it has any.',
    'verb.arguments': 'The arguments of a verb are merged as an update would be.',
    'verb.set': 'The declared fields to set apply after the arguments.',
    'verb.keeps': 'A verb that declares keeps: event merges none of its arguments.',
    'verb.args': 'The event of a verb carries its arguments as args.',
    'verb.answer': 'A verb answers 200 with the entity after it.',
    'verb.from': 'A verb in a state outside its from states answers 409 invalid_transition.',
    'verb.builtin': 'create, update and delete are reachable as verbs.',
    'verb.rollback': 'rollback with asOf writes a new version equal to the old state.',
    'verb.rollback.event': 'rollback emits the event updated.',
    'verb.restore': 'restore brings a deleted entity back.',
    'verb.restore.event': 'restore emits the event restored.',
    'verb.everyType': 'rollback and restore exist for every mutable type.',
  },
  C7: {
    'hook.before.change': 'A BEFORE hook may change the payload.',
    'hook.before.refuse': 'A BEFORE hook may refuse: 422 rejected with the hook’s message.',
    'hook.before.nothing': 'Nothing is written when a BEFORE hook refuses.',
    'hook.after.durable': 'AFTER hooks run once the event is durable.',
    'hook.after.failure': 'The failure of an AFTER hook is logged and never undoes the verb.',
    'hook.after.retry': 'A failed AFTER hook is run again.',
    'hook.after.crash': 'A crash between the verb and its AFTER hook does not lose the hook.',
  },
  M9: {
    'verb.update.path': 'POST /:type/:id/update updates and answers 200.',
    'verb.delete.path': 'POST /:type/:id/delete deletes and answers 204.',
    'verb.custom.version': 'A custom verb raises $version and emits its event even when no field changes.',
    'verb.set.now': '$now in a declared set is the time of the verb.',
    'verb.set.args': '$args.x in a declared set is the argument x.',
    'verb.set.next': '$next in a declared set is the next value in the order of the enum.',
    'verb.set.next.deal': 'A Deal advances through Prospecting, Qualification, Proposal, Negotiation, Won.',
    'verb.set.computed': '$computed in a declared set is what the type’s own code computes.',
    'noun.list': 'string[] declares a list.',
  },
})

/** Errors and limits. */
export const errors = requirements('rest', {
  'service.md#Errors': {
    'error.event.modify': 'Modifying or removing an Event is refused, since it has no such verb.',
  },
  K1: {
    'error.shape': 'An error answers error, message and requestId, with type, id, field and details where they apply.',
    'error.validation': 'A validation failure answers 422 validation_error.',
    'error.validation.details': 'A validation failure lists every issue as {field, message} in details.',
    'error.stack': 'No answer holds a stack trace.',
    'error.requestId': 'Every response carries X-Request-Id.',
  },
  K2: {
    'limit.body': 'A JSON body over 10 MiB is refused with the limit named.',
    'limit.entity': 'An entity over 1 MiB is refused with the limit named.',
    'limit.depth': 'JSON deeper than 64 levels is refused with the limit named.',
    'limit.filter': 'A filter of more than 500 nodes is refused with the limit named.',
    'limit.batch': 'A batch of more than 100 operations is refused with the limit named.',
    'limit.import': 'An import body over 1 GiB is refused with the limit named.',
    'limit.import.configured': 'The limit of import bodies is configurable.',
    'limit.status': 'What is over a limit answers 413, or 400 with the limit named.',
  },
  K3: {
    'rate.off': 'No rate limit applies unless one is configured.',
    'rate.perKey': 'A configured rate limit counts per key.',
    'rate.answer': 'A request over the rate limit answers 429 with Retry-After and RateLimit headers.',
  },
})
