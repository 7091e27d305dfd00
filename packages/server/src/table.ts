import { batchRoutes } from './rest/batch.ts'
import { entityRoutes } from './rest/entities.ts'
import { exportRoutes } from './rest/export.ts'
import { historyRoutes } from './rest/history.ts'
import { importRoutes } from './rest/import.ts'
import { manifestRoutes } from './rest/manifest.ts'
import { metricRoutes } from './rest/metrics.ts'
import { schemaRoutes } from './rest/schema.ts'
import { webhookRoutes } from './rest/webhooks.ts'
import { Routes } from './routes.ts'

/** Every path below a tenant. */
export const routes = new Routes([
  ...webhookRoutes,
  ...batchRoutes,
  ...metricRoutes,
  ...importRoutes,
  ...exportRoutes,
  ...manifestRoutes,
  ...schemaRoutes,
  ...historyRoutes,
  ...entityRoutes,
])
