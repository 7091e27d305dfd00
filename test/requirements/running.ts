import { requirements } from './requirement.ts'

/** The typed SDK. */
export const client = requirements('client', {
  'service.md#Four ways to the same data': {
    'client.sdk': 'The data is reachable through an SDK.',
    'client.context': '$context is set once, when a client is initialised.',
    'client.methods': 'The client library has find, findOne, get and count.',
    'client.options': 'The SDK takes the options sort, limit, offset and include.',
    'client.configured': 'A client is created with a tenant and an API key.',
    'client.tenant': 'A client works with the one tenant that it was created for.',
    'client.remote': 'The mode of a client can be remote.',
  },
  'service.md#Sorting by an object': {
    'client.sort': 'The client library sorts by an object of fields.',
  },
})

/** The command. */
export const cli = requirements('cli', {
  'service.md#Four ways to the same data': {
    'cli.data': 'The data is reachable through a command-line client.',
  },
  L1: {
    'cli.serve': 'tilde serve starts the service.',
    'cli.port': '--port or TILDE_PORT sets the port, 8787 by default.',
    'cli.host': '--host or TILDE_HOST sets the address, 127.0.0.1 by default.',
    'cli.data.folder': '--data or TILDE_DATA sets the data folder, ./data by default.',
    'cli.suffix': '--host-suffix or TILDE_HOST_SUFFIX sets the base host, localhost by default.',
    'cli.workers': '--workers or TILDE_WORKERS sets the number of workers.',
    'cli.config': '--config names a file of nouns and hooks.',
    'cli.precedence': 'A flag beats a variable and a variable beats the default.',
  },
})

/** What every host must give a tenant. */
export const hosts = requirements('hosts', {
  'service.md#Isolation': {
    'host.compute': 'Each tenant has a compute instance of its own.',
    'host.storage': 'Each tenant has a storage instance and an event log of its own.',
    'host.cache': 'Each tenant has its own cache and connections.',
  },
})

/** Starting, watching and stopping the service. */
export const running = requirements('running', {
  K4: {
    'running.healthz': '/healthz answers outside tenants.',
    'running.readyz': '/readyz answers outside tenants.',
    'running.metrics': '/metrics answers in the form of Prometheus outside tenants.',
    'running.stop': 'A graceful stop lets requests in flight finish.',
    'running.stop.new': 'During a graceful stop new requests answer 503.',
  },
  L1: {
    'running.ready': 'The service is ready when /readyz answers 200.',
    'running.firstLine': 'The first line on standard output names the URL once the service is ready.',
  },
})
