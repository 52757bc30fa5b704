import type { EntityManager, MikroORM } from '@mikro-orm/core'
import type { Class } from '../class.ts'
import type { Answer, Row } from './answer.ts'
import { PlainModel } from './plain-model.ts'
import {
  assertReadable,
  type KeyColumn,
  type PreparedRead,
  prepareRead,
  type ReadOptions,
} from './prepared-read.ts'

/** What is looked for: the entity of a model that has a value, and the one that it belongs to. */
export interface Sought<Model extends object = object> {
  readonly model: Class<Model>
  readonly property: string
  /** To the entity that is found with it, by a join. */
  readonly relation?: string | undefined
}

interface Owner {
  readonly relation: string
  readonly model: PlainModel
}

/** A prepared statement for what is looked for, and what its rows are made into. */
export class Select<Model extends object> {
  readonly #read: PreparedRead
  readonly #model: PlainModel
  readonly #owner: Owner | undefined

  private constructor(read: PreparedRead, model: PlainModel, owner: Owner | undefined) {
    this.#read = read
    this.#model = model
    this.#owner = owner
  }

  /** `undefined` where a model is not plain, or where we do not know how to ask the driver. */
  static async prepare<Model extends object>(
    orm: MikroORM,
    { model, property, relation }: Sought<Model>,
    options: ReadOptions = {},
  ): Promise<Select<Model> | undefined> {
    await assertReadable(orm)
    const em = orm.em.fork({ useContext: false })
    const plain = await PlainModel.of(em, model, relation)
    const owner = relation === undefined ? undefined : await ownerOf(em, model, relation)
    if (!plain || (relation !== undefined && !owner)) return undefined
    const sql = statement(em, plain, property, owner)
    if (sql === undefined) return undefined
    const asked = orm.config.get('onQuery')(sql, [])
    const keys = [plain.keyColumn]
    if (owner) keys.push(shifted(owner.model.keyColumn, plain.columns.length))
    // What a hook has made of the statement may read from anywhere.
    const remember = options.remember !== false && asked === sql
    const read = await prepareRead(orm, { sql: asked, keys }, { remember })
    return read && new Select<Model>(read, plain, owner)
  }

  /** Asks for the row of that value. */
  ask(value: string | number): Answer {
    return this.#read.ask(value)
  }

  /** The row at once, if it is known (`PreparedRead.known`). */
  known(value: string | number, these: object): Row | undefined {
    return this.#read.known?.(value, these)
  }

  /** The entity of a row, with the one that it belongs to. No entity manager knows them. */
  entity(row: Row): Model {
    const owner = this.#owner?.model.entity(row, this.#model.columns.length)
    // The row has the columns of that model.
    return this.#model.entity(row, 0, owner) as Model
  }

  /** That entity, and the one that it belongs to. */
  within(entity: Model): object[] {
    return this.#owner ? [entity, Reflect.get(entity, this.#owner.relation) as object] : [entity]
  }

  /** Has an entity manager know them. */
  attach(em: EntityManager, entity: Model, row: Row): void {
    // The owner first: whoever knows the entity looks it up there.
    if (this.#owner) {
      const owner = Reflect.get(entity, this.#owner.relation) as object
      this.#owner.model.attach(em, owner, row, this.#model.columns.length)
    }
    this.#model.attach(em, entity, row)
  }
}

async function ownerOf(em: EntityManager, model: Class, relation: string): Promise<Owner | undefined> {
  const property = Reflect.get(em.getMetadata().get<object>(model).properties, relation)
  const isColumn = property?.kind === 'm:1' && property.fieldNames?.length === 1 && !property.ref
  const owner =
    isColumn && property.targetMeta ? await PlainModel.of(em, property.targetMeta.class) : undefined
  // Whom the filters of the owner then leave out depends on how it is loaded.
  const isFiltered = owner && owner.conditions.size > 0 && !em.config.get('filtersOnRelations')
  return owner && !isFiltered ? { relation, model: owner } : undefined
}

function shifted({ column, ...rest }: KeyColumn, offset: number): KeyColumn {
  return { ...rest, column: column + offset }
}

/** The statement, in the SQL that all databases speak, with the value for its one parameter; one row is enough. */
function statement(
  em: EntityManager,
  model: PlainModel,
  property: string,
  owner: Owner | undefined,
): string | undefined {
  const platform = em.getPlatform()
  const name = (...parts: string[]) => parts.map((part) => platform.quoteIdentifier(part)).join('.')
  const columns = (alias: string, { columns }: PlainModel) => columns.map((column) => name(alias, column))
  const conditions = (alias: string, { conditions }: PlainModel) =>
    [...conditions].map(([column, value]) =>
      value === null
        ? `${name(alias, column)} is null`
        : `${name(alias, column)} = ${platform.quoteValue(value)}`,
    )
  const column = model.columnOf(property)
  const key = owner && model.columnOf(owner.relation)
  if (column === undefined) return undefined
  const select = [...columns('e', model), ...(owner ? columns('o', owner.model) : [])]
  const join =
    owner && key
      ? `join ${name(owner.model.table)} as ${name('o')} on ${name('o', owner.model.primaryKey)} = ${name('e', key)}`
      : ''
  const where = [
    `${name('e', column)} = ?`,
    ...conditions('e', model),
    ...(owner ? conditions('o', owner.model) : []),
  ]
  return `select ${select.join(', ')} from ${name(model.table)} as ${name('e')} ${join} where ${where.join(' and ')} limit 1`
}
