import assert from 'node:assert/strict'
import { Type } from '@mikro-orm/core'

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

/** A string that SQL converts on read and on write. */
export class UpperType extends Type<string, string> {
  override convertToJSValueSQL(key: string): string {
    return `lower(${key})`
  }

  override convertToDatabaseValueSQL(key: string): string {
    return `upper(${key})`
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
