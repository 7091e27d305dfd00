/** What this host uses of the Workers runtime. */
declare module 'cloudflare:workers' {
  export abstract class DurableObject<Env> {
    protected readonly ctx: DurableObjectState
    protected readonly env: Env
    constructor(ctx: DurableObjectState, env: Env)
    fetch?(request: Request): Response | Promise<Response>
    alarm?(): void | Promise<void>
  }

  export abstract class WorkerEntrypoint {}

  export interface DurableObjectState {
    readonly id: { readonly name?: string }
    readonly storage: DurableObjectStorage
  }

  export interface DurableObjectStorage {
    readonly sql: SqlStorage
    readonly kv: SyncKeyValues
    transactionSync<T>(work: () => T): T
    setAlarm(at: number): Promise<void>
    deleteAlarm(): Promise<void>
    deleteAll(): Promise<void>
    sync(): Promise<void>
  }

  export interface SyncKeyValues {
    get<T>(key: string): T | undefined
    put(key: string, value: unknown): void
    delete(key: string): boolean
  }

  export interface SqlStorage {
    exec(query: string, ...values: unknown[]): { raw(): Iterable<unknown[]> }
    readonly databaseSize: number
  }

  export interface DurableObjectNamespace {
    idFromName(name: string): unknown
    get(id: unknown): { fetch(request: Request): Promise<Response> }
  }
}
