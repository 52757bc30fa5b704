import assert from 'node:assert/strict'
import { type Platform, Type } from '@mikro-orm/core'

/** A string that is stored in reverse. */
export class Reversed extends Type<string, string> {
  override convertToDatabaseValue = reverse
  override convertToJSValue = reverse
}

/** A string that is stored in reverse. Throws for `null` on read. MikroORM never converts a `null` in a row. */
export class ReversedText extends Type<string | null, string | null> {
  override convertToDatabaseValue(value: string | null): string | null {
    return value === null ? null : reverse(value)
  }

  override convertToJSValue(value: string | null): string {
    return reverse(value ?? assert.fail('The type received null.'))
  }
}

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

/** A string that SQL converts on read and on write. */
export class UpperType extends Type<string, string> {
  override convertToJSValueSQL(key: string): string {
    return `lower(${key})`
  }

  override convertToDatabaseValueSQL(key: string): string {
    return `upper(${key})`
  }
}

/** A string that SQL converts on write. */
export class WrittenUpperType extends Type<string, string> {
  override convertToDatabaseValueSQL(key: string): string {
    return `upper(${key})`
  }
}

/** A string whose JSON is its first letter. */
export class InitialType extends Type<string, string> {
  override toJSON(value: string): string {
    return value.slice(0, 1)
  }
}

/** A type whose conversion depends on the platform. */
export class PlatformType extends Type<string, string> {
  override convertToJSValue(value: string, platform: Platform): string {
    return `${value} ${platform.usesReturningStatement()}`
  }

  override convertToDatabaseValue(value: string): string {
    return value.split(' ')[0] ?? ''
  }
}

/** A type that would map a `null` in a row to a value. */
export class NeverNullType extends Type<string, string | null> {
  override convertToJSValue(value: string | null): string {
    return value ?? 'none'
  }
}

/** A date that is stored as text. */
export class DateTextType extends Type<Date, string> {
  override get runtimeType(): string {
    return 'Date'
  }

  override convertToJSValue(value: string): Date {
    return new Date(value)
  }

  override convertToDatabaseValue(value: Date | string): string {
    return new Date(value).toISOString()
  }
}

/** An object that is stored as text. MikroORM's snapshot is the text in the row, without a conversion. */
export class ObjectTextType extends Type<object, string> {
  override ensureComparable(): boolean {
    return false
  }

  override convertToJSValue(value: string): object {
    return JSON.parse(value) as object
  }

  override convertToDatabaseValue(value: object | string): string {
    return typeof value === 'string' ? value : JSON.stringify(value)
  }
}

function reverse(value: string): string {
  return [...value].reverse().join('')
}
