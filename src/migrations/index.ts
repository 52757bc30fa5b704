import { Accounts20261121 } from './20261121-accounts.ts'
import { Activity20261121 } from './20261121-activity.ts'
import { SecondFactors20261121 } from './20261121-second-factors.ts'
import { Sessions20261121 } from './20261121-sessions.ts'

/** All migrations, oldest first. A released migration never changes. */
export const migrations = [
  { name: '20261121-accounts', class: Accounts20261121 },
  { name: '20261121-activity', class: Activity20261121 },
  { name: '20261121-second-factors', class: SecondFactors20261121 },
  { name: '20261121-sessions', class: Sessions20261121 },
]
