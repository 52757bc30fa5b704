import { defineEntity, p } from '@mikro-orm/core'
import { ModelSessionAuthenticatable, ModelTokenAuthenticatable } from 'koa-authenticators/mikro-orm'
import { digest } from './row-rules.ts'

const UserSchema = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    id: p.uuid().primary(),
    name: p.string(),
    email: p.string().unique(),
    passwordHash: p.string().hidden(),
    passwordChangedAt: p.datetime().hidden(),
    disabledAt: p.datetime().nullable().hidden(),
  },
  filters: { enabled: { name: 'enabled', cond: { disabledAt: null }, default: true } },
})

export class User extends ModelSessionAuthenticatable(UserSchema.class) {}

UserSchema.setClass(User)

const UserTokenSchema = defineEntity({
  name: 'UserToken',
  tableName: 'user_tokens',
  properties: {
    id: p.uuid().primary(),
    value: p.string().unique(),
    user: () => p.manyToOne(User).deleteRule('cascade'),
    expiresAt: p.datetime(),
    lastUsedAt: p.datetime().nullable(),
  },
})

export class UserToken extends ModelTokenAuthenticatable(UserTokenSchema.class, {
  value: 'value',
  user: 'user',
}) {
  get isValid() {
    return this.expiresAt.getTime() > Date.now()
  }

  static override stored(token: string) {
    return digest(token)
  }
}

UserTokenSchema.setClass(UserToken)

const StoredSessionSchema = defineEntity({
  name: 'StoredSession',
  tableName: 'sessions',
  properties: {
    digest: p.string().primary(),
    user: () => p.manyToOne(User).deleteRule('cascade'),
    data: p.json<object>(),
    createdAt: p.datetime(),
    seenAt: p.datetime(),
  },
})

export class StoredSession extends StoredSessionSchema.class {}

StoredSessionSchema.setClass(StoredSession)
