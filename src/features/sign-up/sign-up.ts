import type Router from '@koa/router'
import { UniqueConstraintViolationException } from '@mikro-orm/core'
import { entityManager } from '#auth/mikro-orm'
import { type FieldError, FieldRefusal } from '../../refusal.ts'
import { audit } from '../../site/audit.ts'
import { fieldsOf } from '../../site/body.ts'
import { formAgain } from '../../site/form-again.ts'
import { queried } from '../../site/query.ts'
import { userRecord } from '../../site/records.ts'
import { seeOther } from '../../site/see-other.ts'
import type { SiteContext } from '../../site/site-context.ts'
import { page } from '../../site/views.ts'
import { wantsPage } from '../../site/wants-page.ts'
import { hashPassword } from '../../users/password.ts'
import { User } from '../../users/user.ts'
import { rememberDevice } from '../known-devices/remember-device.ts'
import { lifetime } from '../sessions/session-limits.ts'
import { afterSignIn, asked } from '../sign-in/after-sign-in.ts'
import { countLookUp, hasLeft, limited } from '../sign-in/guessing.ts'
import { parseRegistration, type Registration } from './registration.ts'

const taken: FieldError = {
  field: 'email',
  detail: 'There is already an account with this e-mail address.',
}

/** The sign-up page, and `POST /users`: a new account. The form signs the user in; the API answers with the record. */
export function signUp(router: Router<object, SiteContext>): void {
  router.get('/signup', (ctx) => {
    const next = queried(ctx, 'next')
    if (ctx.auth.has(User)) return seeOther(ctx, afterSignIn(next))
    return page(ctx, 'sign-up', { next: asked(next) })
  })

  router.post('/users', again, async (ctx) => {
    // Anybody may; but where nobody can tell who is who, nobody is made either.
    ctx.auth.has(User)
    const parsed = parseRegistration(fieldsOf(ctx))
    if ('errors' in parsed) throw new FieldRefusal(400, parsed.errors)
    const { registration } = parsed
    await countLookUp(ctx)
    const isTaken = await entityManager(ctx).count(
      User,
      { emailKey: registration.emailKey },
      { filters: false },
    )
    const user = isTaken ? undefined : await createUser(ctx, registration)
    if (!user) throw new FieldRefusal(409, [taken])
    audit(ctx, 'signed up', user)
    if (!wantsPage(ctx)) {
      ctx.status = 201
      ctx.body = userRecord(user)
      return
    }
    ctx.session.maxAge = lifetime(false)
    ctx.auth.login(user)
    await rememberDevice(ctx, user)
    seeOther(ctx, afterSignIn(fieldsOf(ctx).next))
  })
}

/** Creates the user. Returns `undefined` if another request has just taken the address. */
function createUser(ctx: SiteContext, registration: Registration): Promise<User | undefined> {
  return limited(ctx, { action: 'sign-up', account: registration.emailKey }, () =>
    insertUser(ctx, registration),
  )
}

async function insertUser(ctx: SiteContext, registration: Registration): Promise<User | undefined> {
  const { name, email, emailKey, password } = registration
  const passwordHash = await hashPassword(password, { hasLeft: () => hasLeft(ctx) })
  const em = entityManager(ctx)
  const user = em.create(User, { name, email, emailKey, passwordHash })
  try {
    await em.flush()
    return user
  } catch (error) {
    if (error instanceof UniqueConstraintViolationException) return undefined
    throw error
  }
}

const again = formAgain((ctx, errors) => {
  const { name, email, next } = fieldsOf(ctx)
  const values = { name: textOf(name), email: textOf(email) }
  return page(ctx, 'sign-up', { values, errors, next: asked(next) })
})

function textOf(field: unknown): string {
  return typeof field === 'string' ? field : ''
}
