import type { Row } from './answer.ts'
import type { Convert } from './conversion.ts'

/** A property of an entity, and what makes it of the value of its column. */
export interface Field {
  readonly name: string
  readonly convert: Convert
}

/**
 * Makes an entity of a row whose columns begin at `offset`, with its owner in the place of the owner's key, if that is what
 * the maker was compiled for.
 */
export type EntityMaker = (row: Row, offset: number, owner?: object) => object

/**
 * Compiles the maker of a model's entities, as MikroORM compiles its own code for each model. The fields of a class define
 * properties, where an assignment would call a setter that MikroORM has put into the prototype, and are compiled to machine
 * code, where V8's runtime would define those that are spread into a literal one by one. In the code are the names of
 * properties, each as a name, and nothing of a row.
 *
 * @param relation the property that is to hold the owner
 */
export function entityMaker(
  prototype: object,
  fields: readonly Field[],
  relation: string | undefined,
): EntityMaker {
  const definitions = fields.map(({ name }, i) => {
    const value = name === relation ? 'owner' : `convert${i}(row[offset + ${i}])`
    return `${JSON.stringify(name)} = ${value};`
  })
  const converts = fields.map((_, i) => `convert${i}`)
  // The fields of a class do not see what its constructor is given. A conversion may make another entity meanwhile.
  const source = `
    'use strict';
    const [${converts.join(', ')}] = converts;
    let row, offset, owner;
    class Entity extends Blank { ${definitions.join(' ')} }
    return (ofRow, from, ofOwner) => {
      const [lastRow, lastOffset, lastOwner] = [row, offset, owner];
      row = ofRow; offset = from; owner = ofOwner;
      const entity = new Entity();
      row = lastRow; offset = lastOffset; owner = lastOwner;
      return entity;
    }`
  const compile = new Function('Blank', 'converts', source)
  return compile(
    blankOf(prototype),
    fields.map(({ convert }) => convert),
  )
}

/** A class whose constructor returns an object of that prototype and no other, for the fields of a subclass to be put on. */
function blankOf(prototype: object): new () => object {
  function Made() {}
  Made.prototype = prototype
  return class {
    constructor() {
      // biome-ignore lint/correctness/noConstructorReturn: the fields of a subclass are defined on what is returned
      return new (Made as unknown as new () => object)()
    }
  }
}
