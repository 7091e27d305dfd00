import { ACCESS_ERRORS } from './access.ts'
import type { ErrorCodes } from './error-code.ts'
import { QUERY_ERRORS } from './query.ts'
import { REQUEST_ERRORS } from './request.ts'
import { SCRIPT_ERRORS } from './script.ts'
import { SERVICE_ERRORS } from './service.ts'
import { WRITE_ERRORS } from './write.ts'

/** Every error code of the service. A code that is not here is a fault of ours. */
export const ERROR_CODES: ErrorCodes = {
  ...REQUEST_ERRORS,
  ...QUERY_ERRORS,
  ...WRITE_ERRORS,
  ...ACCESS_ERRORS,
  ...SCRIPT_ERRORS,
  ...SERVICE_ERRORS,
}
