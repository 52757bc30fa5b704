import { type EntityManager, type EntityProperty, type Platform, ReferenceKind } from '@mikro-orm/core'

/** Makes the value of a property of the value of its column. */
export type Convert = (value: unknown) => unknown

/** The conversion of a property, as MikroORM's own code for results does it, and then its hydrator. */
export function conversion(em: EntityManager, property: EntityProperty): Convert {
  const platform = em.getPlatform()
  const { customType, runtimeType, hydrate } = property
  const convert: Convert =
    customType && hydrate !== false && property.kind === ReferenceKind.SCALAR
      ? (value) => customType.convertToJSValue(own(value), platform)
      : own
  if (runtimeType === 'boolean') return (value) => convert(value === null ? null : Boolean(value))
  if (runtimeType === 'Date' && !platform.isNumericProperty(property))
    return (value) => convert(value === null ? null : dateOf(value as string | number, platform))
  return convert
}

// A row may be read once for many requests: what can be changed is each one's own.
function own(value: unknown): unknown {
  // Most are texts and numbers, of which `instanceof` would be asked for nothing.
  return typeof value === 'object' && value instanceof Uint8Array ? Buffer.from(value) : value
}

// A text without a zone is meant in that of the database, which is UTC unless MikroORM is told otherwise.
function dateOf(value: string | number, platform: Platform): unknown {
  const zone = platform.getTimezone()
  const isWhole = typeof value !== 'string' || !zone || zone === 'local' || hasZone(value)
  return platform.parseDate(isWhole ? value : value + zone)
}

function hasZone(date: string): boolean {
  return date.includes('+') || date.lastIndexOf('-') > 10 || date.endsWith('Z')
}
