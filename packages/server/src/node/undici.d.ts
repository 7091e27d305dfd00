// The two files of undici that are used, with the types of its index. The index would also load fetch, WebSocket and
// caches, and put its own dispatcher below the fetch of the whole process.
declare module 'undici/lib/dispatcher/client.js' {
  import { Client } from 'undici'

  export default Client
}

declare module 'undici/lib/core/connect.js' {
  import { buildConnector } from 'undici'

  export default buildConnector
}
