import type { SiteContext } from '../../site/site-context.ts'
import { User } from '../../users/user.ts'

/**
 * What is wrong with the password of whoever is signed in, who is asked for it once more. It is checked as at sign-in: a
 * wrong one is a guess, and counts.
 * @throws {TryLater} 429, if there have been too many
 */
export async function ownPasswordProblem(ctx: SiteContext, password: string): Promise<string | undefined> {
  const { id, email } = ctx.auth.require(User)
  if (password === '') return 'Enter your current password.'
  const found = await User.findByCredentials({ username: email, password }, ctx)
  return found?.id === id ? undefined : 'This is not your current password.'
}
