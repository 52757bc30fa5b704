import type { EntityManager } from '@mikro-orm/core'
import type { NoticeData, NoticeEvent } from '../mail/notices.ts'
import type { SiteContext } from '../site/site-context.ts'
import { isVerified, type User } from '../users/user.ts'
import { deviceName } from './devices/device-name.ts'
import type { Services } from './services.ts'

/**
 * Queues a notice about a security event of an account, with the time, device and network of the request. Does nothing if the
 * address is not verified, if the site sends no mail, or after ten notices of this kind in an hour.
 *
 * @param em the transaction of the event, which has locked the account
 */
export async function notify(
  services: Services,
  ctx: SiteContext,
  em: EntityManager,
  { id, name, email, ...account }: Pick<User, 'id' | 'name' | 'email' | 'emailVerifiedAt'>,
  event: NoticeEvent,
  more: Pick<NoticeData, 'codesLeft'> = {},
): Promise<void> {
  if (!services.outbox || !isVerified(account)) return
  const attempt = { action: 'notice', account: `${event} ${id}` } as const
  if (services.guessing && !(await services.guessing.throttle.countIn(em, attempt))) return
  const device = withoutLinks(deviceName(ctx.get('User-Agent')))
  await services.outbox.add(em, {
    kind: 'notice',
    to: email,
    // A closed account is already deleted, so the foreign key would reject its id.
    userId: event === 'account closed' ? undefined : id,
    data: { event, name: withoutLinks(name), at: new Date().toISOString(), device, network: ctx.ip, ...more },
  })
}

/**
 * Replaces the characters that make a link, because mail programs turn `example.com` into a link. An attacker with a session could
 * set the user's name to a link.
 */
export function withoutLinks(text: string): string {
  return text.replace(/(?<=\S)[.:/@\\]+(?=\S)/gu, ' ')
}

/**
 * Queues a notice that a program has used the password of an account in an `Authorization` header from a new network. An error does
 * not fail the request.
 */
export async function notifyOfProgram(services: Services, ctx: SiteContext, user: User): Promise<void> {
  if (!services.outbox || !services.guessing || !isVerified(user)) return
  const { devices } = services.guessing
  try {
    if (await devices.deviceOf(ctx, user.email)) return
    await devices.rememberNetwork(ctx, user, (em) => notify(services, ctx, em, user, 'new program'))
  } catch (error) {
    ctx.app.emit('error', error, ctx)
  }
}
