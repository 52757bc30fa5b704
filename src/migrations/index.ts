import { Accounts20261121 } from './20261121-accounts.ts'
import { Throttle20261121 } from './20261121-throttle.ts'

/** Every change of the schema, oldest first. What has been released is never edited. */
export const migrations = [
  { name: '20261121-accounts', class: Accounts20261121 },
  { name: '20261121-throttle', class: Throttle20261121 },
]
