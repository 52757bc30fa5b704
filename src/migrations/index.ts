import { Accounts20261121 } from './20261121-accounts.ts'
import { Throttle20261121 } from './20261121-throttle.ts'
import { Devices20261122 } from './20261122-devices.ts'
import { AttemptCounts20261125 } from './20261125-attempt-counts.ts'
import { Refusals20261126 } from './20261126-refusals.ts'
import { TokenAges20261127 } from './20261127-token-ages.ts'
import { OneTimeTokens20261128 } from './20261128-one-time-tokens.ts'
import { Mails20261129 } from './20261129-mails.ts'
import { PageDetails20261129 } from './20261129-page-details.ts'
import { VerifiedAddresses20261130 } from './20261130-verified-addresses.ts'
import { SecondFactors20261201 } from './20261201-second-factors.ts'
import { Passkeys20261202 } from './20261202-passkeys.ts'
import { CredentialsVersions20261203 } from './20261203-credentials-versions.ts'
import { BoundedAttempts20261204 } from './20261204-bounded-attempts.ts'
import { Identities20261205 } from './20261205-identities.ts'

/** All migrations, oldest first. A released migration never changes. */
export const migrations = [
  { name: '20261121-accounts', class: Accounts20261121 },
  { name: '20261121-throttle', class: Throttle20261121 },
  { name: '20261122-devices', class: Devices20261122 },
  { name: '20261125-attempt-counts', class: AttemptCounts20261125 },
  { name: '20261126-refusals', class: Refusals20261126 },
  { name: '20261127-token-ages', class: TokenAges20261127 },
  { name: '20261128-one-time-tokens', class: OneTimeTokens20261128 },
  { name: '20261129-mails', class: Mails20261129 },
  { name: '20261129-page-details', class: PageDetails20261129 },
  { name: '20261130-verified-addresses', class: VerifiedAddresses20261130 },
  { name: '20261201-second-factors', class: SecondFactors20261201 },
  { name: '20261202-passkeys', class: Passkeys20261202 },
  { name: '20261203-credentials-versions', class: CredentialsVersions20261203 },
  { name: '20261204-bounded-attempts', class: BoundedAttempts20261204 },
  { name: '20261205-identities', class: Identities20261205 },
]
