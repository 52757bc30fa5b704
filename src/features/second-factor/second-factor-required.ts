import { Refusal } from '../../refusal.ts'
import type { User } from '../../users/user.ts'

/** The password is right, but the account also needs a code. */
export class SecondFactorRequired extends Refusal {
  override readonly name = 'SecondFactorRequired'
  readonly user: User

  constructor(user: User, status: 401 | 403, detail: string, headers?: Readonly<Record<string, string>>) {
    super('second_factor_required', detail, headers, status)
    this.user = user
  }
}
