import { requirements } from './requirement.ts'

/** Where tenants, types and paths are found. */
export const addressing = requirements('rest', {
  'service.md#Addresses': {
    'tenant.path': 'The prefix /~{tenant} of a path selects the tenant.',
    'endpoint.prefix': 'All tenant endpoints answer under {base_url}/~{tenant}.',
    'endpoint.body.json': 'Requests with a body are read as application/json.',
    'endpoint.db': 'At {db_url} import, export, sync, the manifest and the change stream need no prefix.',
  },
  'service.md#Isolation': {
    'tenant.isolation': 'No operation reads or writes the data of another tenant.',
    'tenant.entity.one': 'An entity belongs to one tenant.',
    'tenant.implicit': 'The first write to a tenant creates it; no provisioning step exists.',
  },
  'service.md#Four ways to the same data': {
    'surface.same': 'What is written through one surface (REST, SDK, command line, MCP) is read through every other.',
  },
  A1: {
    'address.listener.one': 'One listener serves both {base_url} and {db_url}.',
    'address.suffix': 'The labels of the host, less the configured base host, select the lens.',
    'address.suffix.default': 'The base host is localhost unless another is configured.',
    'address.db.host': 'The label db names the database host.',
    'address.db.anyHost': 'The five database paths answer on every host, so that {db_url} may equal {base_url}.',
    'address.db.tenant': 'On a database path without a prefix the tenant is the one that the key names.',
    'address.db.mounted': 'The five database paths also answer under /~{tenant}.',
    'address.db.events': 'Under a tenant, /events is that tenant’s change stream.',
  },
  A2: {
    'slug.form': 'A tenant slug has 1 to 63 of a-z, 0-9 and inner hyphens.',
    'slug.invalid': 'Any other slug answers 400 invalid_tenant.',
    'slug.files': 'No slug reaches the file system unchecked.',
  },
  A3: {
    'type.byName': 'A type is addressed by its name.',
    'type.byPlural': 'A type is addressed by its plural kebab form as well.',
    'type.plural.all':
      'Create, list, read, update, delete and verbs all work on the plural path, also of ApiKey and Webhook.',
    'type.reserved':
      'The first segments events, batch, metrics, mcp, schema, openapi.json, import, export, sync and manifest are reserved under a tenant.',
    'schema.read': 'GET /~{tenant}/schema describes the types of the tenant.',
    'openapi.read': 'GET /~{tenant}/openapi.json describes the endpoints of the tenant.',
  },
  A4: {
    'type.unknown': 'An unknown type answers 404 unknown_type and names the nearest known types.',
    'verb.unknown': 'An unknown verb answers 404 unknown_verb and names the verbs of the type.',
    'method.wrong': 'A wrong method answers 405 with an Allow header.',
  },
  A5: {
    'tenant.absent.read': 'Reading a tenant that does not exist gives empty results.',
    'tenant.absent.disk': 'Reading a tenant that does not exist creates nothing on disk.',
    'tenant.absent.write': 'The first write creates the tenant on disk.',
  },
  M1: {
    'entity.missing': 'A missing entity answers 404 not_found with type and id.',
    'entity.deleted.read': 'A deleted entity answers 404 not_found with type and id.',
    'entity.deleted.twice': 'A second DELETE of an entity answers 404 not_found.',
    'address.db.tenantRequired':
      'The operator’s key on a database path without a tenant answers 400 tenant_required and names the /~{tenant}/ form.',
  },
  M13: {
    'path.metrics': '/~{tenant}/metrics is the snapshot and not the collection of Metrics.',
    'path.metric': 'Stored Metrics are listed at /~{tenant}/Metric.',
    'path.content': 'content is the path of the type Content.',
  },
})

/** What a subdomain or a path segment before the tenant changes. */
export const lenses = requirements('lenses', {
  'service.md#Lenses': {
    'lens.sameData': 'The data of a tenant is the same on every subdomain.',
    'lens.surface': 'A subdomain selects the types and tools that are offered, and separates no data.',
    'lens.interchangeable': 'A subdomain and a segment of the path can be exchanged.',
    'lens.industry.crm': 'crm as subdomain and healthcare in the path show CRM types of that industry.',
  },
  A6: {
    'lens.dimensions': 'The subdomain and any path segments before /~{tenant} are dimensions of the lens.',
    'lens.domain': 'Each of the eleven domain names is a lens.',
    'lens.journey': 'Each of build, launch, grow, scale, automate and experiment is a lens.',
    'lens.schema': 'A domain or journey lens selects the types that schema shows.',
    'lens.openapi': 'A domain or journey lens selects the types that openapi.json shows.',
    'lens.mcp': 'A domain or journey lens selects what the descriptions and defaults of the MCP tools name.',
    'lens.metrics': 'A domain or journey lens selects the sections of the metrics snapshot.',
    'lens.hidesNothing': 'A type that is named in the path answers on every host.',
    'lens.industry.field':
      'An industry dimension filters lists, counts and searches on the industry field of the type.',
    'lens.industry.organization': 'A type without an industry field is filtered through its relation to Organization.',
    'lens.industry.neither': 'A type with neither an industry field nor such a relation is not filtered.',
    'lens.unknown': 'An unknown dimension answers 404 unknown_lens.',
  },
})
