import { decideRoutes } from './decide/routes.ts'
import { downloadRoutes } from './files/download.ts'
import { linkRoutes } from './files/links.ts'
import { fileRoutes, UPLOAD } from './files/routes.ts'
import { uploadRoutes } from './files/tus.ts'
import { invitationRoutes } from './identity/invitation.ts'
import { metadataRoutes } from './identity/metadata.ts'
import { oidcRoutes } from './identity/oidc/oidc.ts'
import { passkeyRoutes } from './identity/passkeys.ts'
import { passwordRoutes } from './identity/passwords.ts'
import { roleRoutes } from './identity/roles.ts'
import { sessionRoutes } from './identity/session.ts'
import { inboxRoutes } from './mail/inbox.ts'
import { noticeRoutes } from './mail/notices.ts'
import { mcpRoutes } from './mcp/route.ts'
import { authorizeRoutes } from './oauth/authorize.ts'
import { deviceRoutes } from './oauth/device.ts'
import { registerRoutes } from './oauth/register.ts'
import { tokenRoutes } from './oauth/token.ts'
import { consentRoutes } from './oauth/tokens.ts'
import { AGGREGATE } from './rest/aggregate.ts'
import { batchRoutes } from './rest/batch.ts'
import { changesetRoutes } from './rest/changesets.ts'
import { doRoutes } from './rest/do.ts'
import { askRoutes, secretRoutes } from './rest/effects.ts'
import { entityRoutes } from './rest/entities.ts'
import { eraseRoutes } from './rest/erase.ts'
import { eventRoutes } from './rest/events.ts'
import { exportRoutes } from './rest/export.ts'
import { historyRoutes } from './rest/history.ts'
import { hookRoutes } from './rest/hooks.ts'
import { importRoutes } from './rest/import.ts'
import { importHistoryRoutes } from './rest/import-history.ts'
import { integrationRoutes } from './rest/integrations.ts'
import { llmsRoutes } from './rest/llms.ts'
import { manifestRoutes } from './rest/manifest.ts'
import { metricRoutes } from './rest/metrics.ts'
import { openapiRoutes } from './rest/openapi.ts'
import { planRoutes } from './rest/plan.ts'
import { proofRoutes } from './rest/proof.ts'
import { described } from './rest/route-parameters.ts'
import { schemaRoutes } from './rest/schema.ts'
import { startRoutes } from './rest/start.ts'
import { statusRoutes } from './rest/status.ts'
import { syncRoutes } from './rest/sync.ts'
import { taskRoutes } from './rest/tasks.ts'
import { timerRoutes } from './rest/timers.ts'
import { warning, warningOfNames, warningOfParameters } from './rest/unknown-fields.ts'
import { webhookRoutes } from './rest/webhooks.ts'
import { workflowRoutes } from './rest/workflows.ts'
import { Routes } from './route.ts'

/** Every path below a tenant. */
export const routes = new Routes([
  ...sessionRoutes,
  ...passwordRoutes,
  ...passkeyRoutes,
  ...oidcRoutes,
  ...invitationRoutes,
  ...metadataRoutes,
  ...authorizeRoutes,
  ...tokenRoutes,
  ...registerRoutes,
  ...deviceRoutes,
  ...consentRoutes,
  ...decideRoutes,
  ...warningOfNames(webhookRoutes),
  ...warningOfNames(workflowRoutes),
  ...warningOfNames(integrationRoutes),
  ...warningOfNames(askRoutes),
  ...warningOfNames(secretRoutes),
  ...warningOfNames(inboxRoutes),
  ...warningOfNames(noticeRoutes),
  ...eventRoutes.map(described),
  ...warningOfParameters(batchRoutes),
  ...warningOfNames(metricRoutes),
  // Before the types: history is none.
  ...warningOfNames(importHistoryRoutes),
  ...warningOfNames(importRoutes),
  ...warning(exportRoutes),
  ...warningOfNames(manifestRoutes),
  ...warningOfParameters(fileRoutes),
  ...uploadRoutes,
  ...warningOfParameters(syncRoutes),
  ...warningOfNames(taskRoutes),
  ...warningOfNames(startRoutes),
  ...warningOfNames(statusRoutes),
  ...warningOfNames(proofRoutes),
  ...mcpRoutes,
  ...warningOfParameters(doRoutes),
  ...changesetRoutes,
  ...warningOfNames(hookRoutes),
  ...warningOfNames(planRoutes),
  // After hooks: /schema/roles/hooks is about the hooks of a type.
  ...warningOfNames(roleRoutes),
  ...warningOfNames(openapiRoutes),
  ...warningOfNames(llmsRoutes),
  ...warningOfNames(schemaRoutes),
  ...warning([AGGREGATE]),
  ...warningOfNames(historyRoutes),
  ...warningOfNames(timerRoutes),
  ...warningOfNames(eraseRoutes),
  ...warning(entityRoutes),
  ...downloadRoutes,
  ...warningOfNames(linkRoutes),
  // Found by the route of verbs, which has the same path.
  UPLOAD,
])
