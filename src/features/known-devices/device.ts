import { defineEntity, p } from '@mikro-orm/core'
import { User } from '../../users/user.ts'

const DeviceSchema = defineEntity({
  name: 'Device',
  tableName: 'devices',
  properties: {
    // SHA-256 of the value in the device's cookie.
    digest: p.string().length(43).primary(),
    user: () => p.manyToOne(User).primary().deleteRule('cascade').index(),
    // The last sign-in.
    seenAt: p.datetime().index('devices_seen_at_index'),
  },
})

/** A device that a user has signed in from. It has its own rate limit and does not authenticate the user. */
export class Device extends DeviceSchema.class {}

DeviceSchema.setClass(Device)
