import { userInfo } from 'node:os'
import { join } from 'node:path'

/** The programs that are unpacked where they cannot be installed. */
export const FOLDER = join(import.meta.dirname, '..', '..', '.tmp', 'programs')

/** Where the library is that gives a name to a user id without one. */
export const NSS_WRAPPER = ['/usr', join(FOLDER, 'root', 'usr')].map((root) => join(root, 'lib/*/libnss_wrapper.so'))

/** Whether the system knows a name for the id of this user. In a container it often does not. */
export function hasName(): boolean {
  try {
    userInfo()
    return true
  } catch {
    return false
  }
}
