import assert from 'node:assert/strict'
import { type Platform, Type } from '@mikro-orm/core'

/** A text whose letters are stored in reverse. */
export class Reversed extends Type<string, string> {
  override convertToDatabaseValue = reverse
  override convertToJSValue = reverse
}

/** The same. It refuses a `null` of a row, which MikroORM never hands to a type. */
export class ReversedText extends Type<string | null, string | null> {
  override convertToDatabaseValue(value: string | null): string | null {
    return value === null ? null : reverse(value)
  }

  override convertToJSValue(value: string | null): string {
    return reverse(value ?? assert.fail('A type got a null.'))
  }
}

/** A value object with a private field. */
export class Money {
  readonly #cents: number

  constructor(cents: number) {
    this.#cents = cents
  }

  get cents(): number {
    return this.#cents
  }

  toJSON(): string {
    return (this.#cents / 100).toFixed(2)
  }
}

export class MoneyType extends Type<Money, number> {
  override convertToDatabaseValue(value: Money): number {
    return value.cents
  }

  override convertToJSValue(value: number): Money {
    return new Money(value)
  }

  override compareAsType(): string {
    return 'number'
  }

  override getColumnType(): string {
    return 'int'
  }
}

/** A point whose values are compared by a function of its own. */
export class PointType extends Type<{ x: number; y: number }, string> {
  override convertToDatabaseValue({ x, y }: { x: number; y: number }): string {
    return `${x}|${y}`
  }

  override convertToJSValue(value: string): { x: number; y: number } {
    const [x, y] = value.split('|').map(Number)
    return { x: x ?? 0, y: y ?? 0 }
  }

  override compareAsType(): string {
    return 'any'
  }

  override compareValues(one: string, other: string): boolean {
    return one.trim() === other.trim()
  }
}

/** A text that the database converts both ways. */
export class UpperType extends Type<string, string> {
  override convertToJSValueSQL(key: string): string {
    return `lower(${key})`
  }

  override convertToDatabaseValueSQL(key: string): string {
    return `upper(${key})`
  }
}

/** A text that the database converts when it is written. */
export class WrittenUpperType extends Type<string, string> {
  override convertToDatabaseValueSQL(key: string): string {
    return `upper(${key})`
  }
}

/** A text of which JSON has the first letter. */
export class InitialType extends Type<string, string> {
  override toJSON(value: string): string {
    return value.slice(0, 1)
  }
}

/** A type that knows the platform. */
export class PlatformType extends Type<string, string> {
  override convertToJSValue(value: string, platform: Platform): string {
    return `${value} ${platform.usesReturningStatement()}`
  }

  override convertToDatabaseValue(value: string): string {
    return value.split(' ')[0] ?? ''
  }
}

/** A type that maps a null of the database to a value. */
export class NeverNullType extends Type<string, string | null> {
  override convertToJSValue(value: string | null): string {
    return value ?? 'none'
  }
}

function reverse(value: string): string {
  return [...value].reverse().join('')
}
