// Connectors to other services, for the command line: @tildebase/server/connect.

export {
  type Ask,
  CONNECTORS,
  type Connector,
  type Found,
  type Mapping,
  type ObjectMapping,
  type PastRow,
  type PastValues,
  pastOf,
  patient,
  type Sent,
  settled,
} from '@tildebase/tenant/internal'
export { csvReader } from './doors/format/read/read-csv.ts'
