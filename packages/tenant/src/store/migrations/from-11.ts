import { INTEGRATIONS } from '../automation/integrations.ts'

/** From layout 11 to 12: integrations have credentials and runs. */
export const FROM_11: readonly string[] = INTEGRATIONS
