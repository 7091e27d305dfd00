import type { Tenant, TenantOptions } from '@tildebase/tenant'
import type { TenantFiles } from '../sqlite/files.ts'

/** Where admin tasks find their tenant. */
export interface AdminContext {
  readonly files: TenantFiles
  /** Opens the file at a path as a tenant that nothing wakes. */
  open(slug: string, path: string): { readonly tenant: Tenant; close(): void }
  readonly options: TenantOptions
  use(slug: string): Tenant
  /** The same, kept open until the work is done. */
  during<T>(slug: string, work: (tenant: Tenant) => Promise<T>): Promise<T>
  isOpen(slug: string): boolean
  close(slug: string): void
}
