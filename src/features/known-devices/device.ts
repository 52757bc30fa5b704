import { defineEntity, p } from '@mikro-orm/core'
import { User } from '../../users/user.ts'

const DeviceSchema = defineEntity({
  name: 'Device',
  tableName: 'devices',
  properties: {
    // SHA-256 of what the device's cookie holds.
    digest: p.string().length(43).primary(),
    user: () => p.manyToOne(User).primary().deleteRule('cascade').index(),
    // When it was last signed in from.
    seenAt: p.datetime().index('devices_seen_at_index'),
  },
})

/** A device that a user has signed in from. It identifies nobody by itself: it only has an allowance of its own. */
export class Device extends DeviceSchema.class {}

DeviceSchema.setClass(Device)
