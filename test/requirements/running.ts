import { requirements } from './requirement.ts'

/** The typed SDK. */
export const client = requirements('client', {
  'service.md#What the service does': {
    'client.sdk': 'The data is reachable through an SDK.',
  },
  'service.md#Common entity meta-fields': {
    'client.context': '$context is set once, when a client is initialised.',
  },
  'service.md#Query language': {
    'client.methods': 'The SDK offers find, findOne, get and count.',
    'client.options': 'The SDK takes the options sort, limit, offset and include.',
    'client.sort': 'The SDK sorts by an object of field to 1 or -1.',
  },
  'service.md#Authentication': {
    'client.configured': 'A client is configured with a tenant and an API key.',
    'client.tenant': 'A client operates on exactly one tenant, chosen at initialisation.',
    'client.remote': 'The mode of a client can be remote.',
  },
})

/** The command. */
export const cli = requirements('cli', {
  'service.md#What the service does': {
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
  'service.md#What the service does': {
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
