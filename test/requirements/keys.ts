import { requirements } from './requirement.ts'

/** ApiKeys, scopes and the first key. */
export const keys = requirements('keys', {
  'service.md#The ApiKey type': {
    'key.id': 'The $id of an ApiKey has the form apiKey_<token>.',
    'key.path': 'ApiKeys are found at /~{tenant}/api-keys.',
    'key.name': 'name is a required string.',
    'key.prefix': 'keyPrefix has the first 8 characters of the secret.',
    'key.prefix.unique': 'keyPrefix is unique and indexed.',
    'key.scopes.form': 'scopes is a string of comma-separated <action>:<area>.',
    'key.status.values': 'status is Active, Revoked or Expired.',
    'key.secret.once': 'The full secret is returned in the response to creation and never again.',
    'key.list.status': 'GET /api-keys?status=<status> lists the keys in that status.',
    'key.get': 'GET /api-keys/:id reads one key.',
    'key.revoke.path': 'POST /api-keys/:id/revoke revokes a key.',
  },
  'service.md#The life of a key': {
    'key.created': 'A created key is Active and emits Created.',
    'key.revoke': 'revoke makes an Active key Revoked and emits Revoked.',
    'key.expire': 'A key whose lifetime has elapsed becomes Expired.',
    'key.final': 'A key that is Revoked or Expired stays so.',
    'key.update': 'update of a key changes name and scopes only, and writes Updated.',
    'key.delete': 'delete of a key keeps it in the log, and writes Deleted.',
  },
  'service.md#The key of a request': {
    'auth.bearer': 'Requests to a tenant or to {db_url} need the secret of an ApiKey as Bearer token.',
    'auth.unusable': 'A Revoked or Expired key is not usable.',
    'auth.rotation': 'A new key works beside the old one until the old one is revoked.',
    'auth.scopes': 'A key can do what its scopes allow; their actions are read, write and admin.',
  },
  'service.md#Limits': {
    'limit.keyPrefix': 'keyPrefix has 8 characters.',
  },
  B1: {
    'key.secret.form': 'A secret is tb_, 40 random base62 characters, ~ and the tenant slug.',
    'key.secret.tenant': 'A key names its own tenant, so that the database host needs no prefix.',
    'key.prefix.redraw': 'A keyPrefix that is taken in the tenant is drawn again.',
  },
  B2: {
    'key.hash': 'Only a SHA-256 of the secret is stored.',
    'key.timing': 'Secrets are compared in constant time.',
    'key.revoke.immediate': 'Revocation takes effect on the very next request.',
  },
  B3: {
    'key.create.answer': 'Creating an ApiKey answers 201 with the entity and its secret.',
    'key.create.guarded': 'Clients cannot set keyPrefix or status.',
    'key.expiresAt': 'expiresAt is an optional datetime after which the key is no longer usable.',
    'key.expired.event': 'At expiresAt the system sets Expired and emits ApiKey.expired.',
    'key.delete.immediate': 'A deleted key is unusable at once.',
    'key.delete.status': 'Deleting a key leaves the stored status as it was.',
  },
  B4: {
    'root.everyTenant': 'The operator’s key may act on every tenant.',
    'root.env': 'TILDE_ROOT_KEY sets the operator’s key.',
    'root.generated': 'An operator’s key that is not set is generated at the first start.',
    'root.stored': 'The generated operator’s key is stored with mode 0600 in the data directory.',
    'root.printed': 'The generated operator’s key is printed once.',
    'signup.open':
      'With TILDE_SIGNUP=open an unauthenticated POST /~{new}/api-keys creates the tenant and its first key.',
    'signup.scope': 'The first key of a signed-up tenant has the scope admin:all.',
    'signup.existing': 'Signing up to a tenant that exists is refused.',
    'signup.closed': 'Signing up is closed by default.',
  },
  B5: {
    'scope.order': 'write includes read, and admin includes write.',
    'scope.area': 'The area of a scope is all, *, a domain name or a type name.',
    'scope.inherited': 'A key created without scopes gets those of the key that made it.',
    'scope.grant': 'Granting more than one holds answers 403.',
  },
  B6: {
    'scope.read': 'Lists, get, export, manifest, change stream, MCP search and fetch, and metrics need read.',
    'scope.write': 'Create, update, delete, verbs, import and sync need write.',
    'scope.admin': 'ApiKey, Webhook, schema and hooks need admin on the area of the type.',
    'scope.include': 'include needs read on every type it touches.',
    'scope.dotted': 'Dotted filters need read on every type they touch.',
    'scope.leaveOut.stream': 'A change stream leaves out what the key may not read.',
    'scope.leaveOut.export': 'A manifest and an export leave out what the key may not read.',
    'scope.leaveOut.metrics': 'Metrics leave out what the key may not read.',
  },
  B7: {
    'auth.missing': 'A missing key answers 401 unauthorized.',
    'auth.malformed': 'A malformed or unknown key answers 401 unauthorized.',
    'auth.revoked': 'A revoked or expired key answers 401 unauthorized.',
    'auth.challenge': 'A 401 carries WWW-Authenticate: Bearer.',
    'auth.wrongTenant': 'A key of another tenant answers 403 forbidden, the same whether or not the tenant exists.',
    'auth.narrow': 'A key whose scopes are too narrow answers 403 forbidden.',
  },
  M3: {
    'key.noRollback': 'ApiKey has no rollback and no restore.',
    'key.streams.end': 'The open streams of a revoked key end.',
  },
  M8: {
    'scope.keys.read': 'Reading ApiKeys and Webhooks needs admin on their area.',
    'scope.schema.read': 'Any valid key reads schema.',
    'scope.export.forbidden': 'Exporting a type that the key may not read answers 403.',
  },
})
