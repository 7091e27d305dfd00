import { requirements } from './requirement.ts'

/** Several nodes that share one log. */
export const cluster = requirements('cluster', {
  T1: {
    'cluster.owner': 'A tenant is owned by one node; every node takes requests for it and passes them on.',
    'cluster.fence': 'What a node commits after another has claimed the tenant is not in the log.',
    'cluster.timeline':
      'A node does not use a database that lacks acknowledged writes; it answers 503 and names what is missing.',
    'cluster.gate': 'No answer leaves before the commits that it saw are in the log.',
    'cluster.protocol': 'Histories with faults are linearizable per tenant, and no acknowledged write is lost.',
  },
  T2: {
    'cluster.crash': 'When the owner dies, another node goes on with all acknowledged writes.',
    'cluster.stop': 'A node that stops hands its tenants over; no request fails.',
    'cluster.move': 'A tenant moves to another node without a failed request.',
    'cluster.tables': 'The tables of the log are brought forward once, while nodes run; a node refuses newer ones.',
    'cluster.upgrade': 'Nodes of a newer layout replace older ones one after the other; no write is lost or refused.',
    'cluster.database': 'A restart of PostgreSQL loses nothing, and the nodes go on by themselves.',
  },
  T3: {
    'cluster.create': 'In a cluster only the operator and sign-ups create tenants.',
    'cluster.settings': 'A node whose keys or base URL differ from the cluster’s does not start.',
    'cluster.folder': 'A data folder of a single node cannot be used by a cluster, nor the other way round.',
    'cluster.in.out': 'A tenant moves into a cluster and out of it by backup and restore.',
    'cluster.tls': 'Connections to the log are encrypted and its certificate is checked, as sslmode says.',
    'cluster.scenarios': 'Through a node that does not own the tenant, a cluster answers as one node does.',
  },
  T4: {
    'cluster.erase': 'After an erasure the log and its snapshots do not hold the values any more.',
    'cluster.snapshot': 'Snapshots replace the changes before them, and a new node starts from one.',
    'cluster.status': 'GET /operator/cluster shows the nodes and who owns a tenant.',
    'cluster.rights': 'Every path below /operator/cluster needs the operator key, or the key of another node.',
  },
})
