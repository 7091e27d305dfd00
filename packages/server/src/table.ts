import { batchRoutes } from './rest/batch.ts'
import { entityRoutes } from './rest/entities.ts'
import { historyRoutes } from './rest/history.ts'
import { schemaRoutes } from './rest/schema.ts'
import { Routes } from './routes.ts'

/** Every path below a tenant. */
export const routes = new Routes([...batchRoutes, ...schemaRoutes, ...historyRoutes, ...entityRoutes])
