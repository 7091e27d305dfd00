/** The requirements that no test proves yet. `npm run ledger -- --write` keeps this list true. */
export const OPEN: readonly string[] = `
  tenant.path tenant.isolation tenant.entity.one tenant.implicit surface.same endpoint.prefix endpoint.body.json
  endpoint.db address.listener.one address.suffix address.suffix.default address.db.host address.db.anyHost
  address.db.tenant address.db.mounted address.db.events slug.form slug.invalid slug.files type.byName
  type.byPlural type.plural.all type.reserved schema.read openapi.read type.unknown verb.unknown method.wrong
  tenant.absent.read tenant.absent.disk tenant.absent.write entity.missing entity.deleted.read
  entity.deleted.twice address.db.tenantRequired path.metrics path.metric path.content meta.id.form meta.type
  meta.context meta.version meta.times meta.times.plain meta.createdBy rest.list rest.create rest.get
  rest.get.include rest.get.fields rest.put rest.delete rest.verb list.shape version.counter asOf.state
  asOf.deleted asOf.changed id.token id.sortable id.camel meta.all meta.request.ignored meta.request.id
  status.create status.ok status.delete rest.patch noun.notation noun.check.type noun.check.required
  noun.check.enum noun.check.unique noun.undeclared noun.strict noun.datetime noun.default schema.put
  update.merge update.null update.nothing reference.exists reference.deleted reference.include etag.read
  etag.ifMatch etag.ifNoneMatch idempotency.replay idempotency.expiry idempotency.mismatch unique.conflict
  get.asOf list.asOf fields.list fields.identity idempotency.owner idempotency.secret type.declared log.every
  log.immutable delete.soft verb.lifecycle verb.names verb.event verb.custom.lifecycle verb.declared
  verb.arguments verb.set verb.answer verb.from verb.builtin verb.rollback verb.rollback.event verb.restore
  verb.restore.event verb.everyType hook.before.change hook.before.refuse hook.before.nothing hook.after.durable
  hook.after.failure hook.after.retry hook.after.crash verb.update.path verb.delete.path verb.custom.version
  verb.set.now verb.set.args verb.set.next verb.set.next.deal verb.set.computed noun.list error.event.modify
  error.shape error.validation error.validation.details error.stack error.requestId limit.body limit.entity
  limit.depth limit.filter limit.batch limit.import limit.import.configured limit.status rate.off rate.perKey
  rate.answer list.filter list.sort list.sort.default list.limit list.limit.default list.offset list.cursor
  list.asOf.timestamp list.asOf.deleted list.include list.equality list.text.relevance filter.eq filter.ne
  filter.gt filter.lt filter.in filter.exists filter.regex filter.and filter.or filter.not filter.text
  filter.combine filter.fields filter.dotted filter.dotted.depth sort.object sort.meta limit.list limit.dotted
  sort.total sort.several sort.null list.total cursor.stable cursor.null cursor.mismatch list.limit.invalid
  filter.malformed filter.unknownOperator filter.wrongOperand sort.invalid include.invalid fields.invalid
  asOf.invalid parameter.equality parameter.coerced parameter.and mongo.null mongo.missing mongo.contains
  mongo.types mongo.boolean mongo.elements mongo.array mongo.object mongo.dotted.null exists.partition
  datetime.operand datetime.relative operand.null operand.empty operand.in operand.not text.operand filter.sql
  regex.linear regex.syntax regex.options regex.length dotted.direction dotted.toMany dotted.limit dotted.json
  text.words text.order text.combined text.asOf include.direction include.nested include.cap secret.filter
  secret.fields secret.export secret.events secret.mcp text.place dotted.none dotted.count sort.ties key.id
  key.path key.name key.prefix key.prefix.unique key.scopes.form key.status.values key.secret.once key.created
  key.revoke key.expire key.final key.update key.delete key.list.status key.get key.revoke.path auth.bearer
  auth.unusable auth.rotation auth.scopes limit.keyPrefix key.secret.form key.secret.tenant key.prefix.redraw
  key.hash key.timing key.revoke.immediate key.create.answer key.create.guarded key.expiresAt key.expired.event
  key.delete.immediate key.delete.status root.everyTenant root.env root.generated root.stored root.printed
  signup.open signup.scope signup.existing signup.closed scope.order scope.area scope.inherited scope.grant
  scope.read scope.write scope.admin scope.include scope.dotted scope.leaveOut.stream scope.leaveOut.export
  scope.leaveOut.metrics auth.missing auth.malformed auth.revoked auth.challenge auth.wrongTenant auth.narrow
  key.noRollback key.streams.end scope.keys.read scope.schema.read scope.export.forbidden lens.sameData
  lens.surface lens.interchangeable lens.industry.crm lens.dimensions lens.domain lens.journey lens.schema
  lens.openapi lens.mcp lens.metrics lens.hidesNothing lens.industry.field lens.industry.organization
  lens.industry.neither lens.unknown event.streamed event.id event.createOnly event.name event.type event.data
  event.source event.session event.organization event.timestamp event.page event.properties event.stateless
  event.list event.get event.post stream.tenant stream.db stream.since stream.type stream.limit limit.stream
  event.names event.names.builtin event.names.custom event.names.wildcard event.names.apiKey event.names.event
  hook.perVerb hook.after.context log.one log.record log.record.more log.previous log.seq stream.order
  stream.cursor stream.type.patterns event.collection.lens event.collection.parameters event.resource
  event.collection.holds event.collection.verb live.sse live.id live.resume live.alive log.time log.syncedAt
  event.case.wire event.case.subscription stream.cursor.always stream.limit.range stream.since.invalid
  stream.type.known stream.type.other event.tracked.one event.tracked.once webhook.pushed webhook.id webhook.url
  webhook.events webhook.secret webhook.status webhook.createdAt webhook.failing webhook.failing.subscribed
  webhook.failing.drains webhook.register webhook.register.answer webhook.register.active webhook.authenticated
  delivery.post delivery.id delivery.type delivery.timestamp delivery.tenant delivery.data delivery.previous
  delivery.signature webhook.retry.failure webhook.retry.timeout webhook.retry.delays webhook.retry.exhausted
  webhook.retry.new webhook.error limit.webhook.timeout limit.webhook.retries webhook.https webhook.address
  webhook.address.connection webhook.redirect webhook.insecure webhook.patterns webhook.secret.form
  webhook.secret.once delivery.standard outbox.transaction outbox.never outbox.atLeastOnce outbox.order
  outbox.retry webhook.recovers webhook.recovers.backlog webhook.deliveries webhook.redeliver
  webhook.redeliver.all webhook.rotate webhook.rotate.overlap webhook.env.retries webhook.env.timeout
  signature.text signature.rotated signature.bytes signature.overlap webhook.insecure.schemes bulk.both
  import.detail.shape manifest.entry import.json import.ndjson import.answer import.rows import.error.text
  import.rejected export.all export.format export.filter manifest.files manifest.generatedAt manifest.compare
  import.csv import.row.zero import.line import.success import.events import.details.cap import.streams
  import.gzip import.gzip.bounded export.streams export.json export.csv export.parquet export.ndjson export.asOf
  export.roundTrip manifest.hash manifest.stable csv.string csv.json csv.absent csv.typed sync.local sync.change
  sync.both sync.lastWrite sync.clocks sync.request sync.answer sync.serverChanges sync.syncedAt sync.operations
  sync.clock sync.concurrent sync.concurrent.clockless sync.field sync.field.tie sync.conflicts sync.rejected
  sync.repeat sync.paged sync.converges sync.replica sync.decided sync.echo sync.delete sync.create.existing
  sync.update.unknown sync.repeat.applied mcp.three mcp.path mcp.bound mcp.search mcp.search.sort mcp.fetch
  mcp.do mcp.http mcp.tools mcp.fetch.special mcp.sort.forms do.code do.result do.scopes do.isolated do.time
  do.memory do.operations do.blocks hook.put hook.put.admin hook.put.tenant do.find do.get do.count do.create
  do.verb hook.code hook.code.before batch.path batch.filter batch.shape batch.below batch.query batch.answer
  batch.cap batch.ref.body batch.ref.path batch.ref.failed batch.atomic batch.atomic.failed batch.slash
  batch.ref.invalid metrics.snapshot metric.byName metrics.derived funnel.matching metrics.revenue
  metrics.pipeline metrics.product metrics.support metrics.marketing metrics.null metrics.asOf metric.stored
  metric.builtin metric.shape metric.history funnel.analyze funnel.actor goal.follows metrics.open
  metrics.stages metric.history.shape funnel.steps funnel.answer goal.current goal.achieved client.sdk
  client.context client.methods client.options client.sort client.configured client.tenant client.remote
  cli.data cli.serve cli.port cli.host cli.data.folder cli.suffix cli.workers cli.config cli.precedence
  host.compute host.storage host.cache running.healthz running.readyz running.metrics running.stop
  running.stop.new running.ready running.firstLine
`
  .split(/\s+/)
  .filter((id) => id !== '')
