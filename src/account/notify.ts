import type { EntityManager } from '@mikro-orm/core'
import type { SiteContext } from '../site/site-context.ts'
import { isVerified, type User } from '../users/user.ts'
import { deviceName } from './devices/device-name.ts'
import type { Services } from './services.ts'

declare module '../mail/message.ts' {
  interface Mails {
    notice: NoticeData
  }
}

/** The words of a notice about a security event. It contains no secret, and no link that signs in. */
export interface Notice {
  readonly subject: string
  /** The description of the event. */
  readonly text: string
  /** Whether the notice advises to contact the operator. Otherwise, it advises to choose a new password. */
  readonly needsOperator?: true
  /** Whether the owner must act even if the event was the owner's own. */
  readonly mustAct?: true
}

export interface NoticeData extends Notice {
  readonly name: string
  /** The time, as text of `Date.toISOString`. */
  readonly at: string
  /** The device in words, such as `Firefox on Linux`. */
  readonly device: string
  /** The IP address of the request. A command of the operator has none. */
  readonly network?: string
  /** The number of unused recovery codes. */
  readonly codesLeft?: number | undefined
}

export const noticeMails = { notice: { subject: ({ subject }: Notice) => subject } }

const newProgram: Notice = {
  subject: 'New use of your password by a program',
  text: 'A program used the password of your account from a new network. It may have created an API token.',
}

/**
 * Queues a notice about a security event of an account, with the time, device and network of the request. Does nothing if the
 * address is not verified, if the site sends no mail, or after ten notices of this kind in an hour.
 *
 * @param em the transaction of the event, which has locked the account. With `isClosed`, it has deleted the account
 */
export async function notify(
  services: Services,
  ctx: SiteContext,
  em: EntityManager,
  { id, name, email, ...account }: Pick<User, 'id' | 'name' | 'email' | 'emailVerifiedAt'>,
  notice: Notice,
  { isClosed, ...more }: Pick<NoticeData, 'codesLeft'> & { isClosed?: true } = {},
): Promise<void> {
  if (!services.outbox || !isVerified(account)) return
  const attempt = { action: 'notice', account: `${notice.subject} ${id}` } as const
  if (services.guessing && !(await services.guessing.throttle.countIn(em, attempt))) return
  const device = withoutLinks(deviceName(ctx.get('User-Agent')))
  await services.outbox.add(em, {
    kind: 'notice',
    to: email,
    // A closed account is already deleted, so the foreign key would reject its id.
    userId: isClosed ? undefined : id,
    data: {
      ...notice,
      name: withoutLinks(name),
      at: new Date().toISOString(),
      device,
      network: ctx.ip,
      ...more,
    },
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
    await devices.rememberNetwork(ctx, user, (em) => notify(services, ctx, em, user, newProgram))
  } catch (error) {
    ctx.app.emit('error', error, ctx)
  }
}
