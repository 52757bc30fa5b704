import {
  BigIntType,
  type EntityManager,
  type EntityMetadata,
  type EntityProperty,
  EventType,
  helper,
  QueryHelper,
  ReferenceKind,
  UuidType,
} from '@mikro-orm/core'
import type { Class } from '../class.ts'
import type { Row } from './answer.ts'
import { conversion } from './conversion.ts'
import { type EntityMaker, entityMaker } from './entity-maker.ts'
import type { KeyColumn } from './prepared-read.ts'

/**
 * A model whose entities can be made of rows without MikroORM: columns and nothing that its own code has a part in,
 * such as embedded objects, formulas, collections or hooks. What is made of it becomes MikroORM's own when it is asked for.
 */
export class PlainModel {
  readonly table: string
  /** The values that columns must have: the model's filters. */
  readonly conditions: ReadonlyMap<string, unknown>
  /** In the order in which `entity` takes their values. */
  readonly columns: readonly string[]
  /** Makes an entity of a row, which no entity manager knows; with its owner, where there is a relation to one. */
  readonly entity: EntityMaker
  readonly #meta: EntityMetadata
  readonly #properties: readonly EntityProperty[]

  private constructor(
    em: EntityManager,
    meta: EntityMetadata,
    conditions: ReadonlyMap<string, unknown>,
    relation: string | undefined,
  ) {
    this.table = meta.tableName
    this.conditions = conditions
    this.#meta = meta
    this.#properties = meta.props.filter(({ persist }) => persist !== false)
    this.columns = this.#properties.map(({ fieldNames: [column = ''] }) => column)
    const fields = this.#properties.map((property) => ({
      name: property.name,
      convert: conversion(em, property),
    }))
    this.entity = entityMaker(meta.prototype, fields, relation)
  }

  /** The model, if it is plain but for this relation of it. */
  static async of(em: EntityManager, model: Class, relation?: string): Promise<PlainModel | undefined> {
    const meta = em.getMetadata().get<object>(model) as EntityMetadata
    const conditions = await filtersOf(em, meta)
    const isPlain = isTable(em, meta) && meta.props.every((each) => each.name === relation || isColumn(each))
    return isPlain && conditions ? new PlainModel(em, meta, conditions, relation) : undefined
  }

  /** The column of a property, if it is one that can be compared with a text or a number. */
  columnOf(name: string): string | undefined {
    const property = this.#properties.find((each) => each.name === name)
    return property && isKeptAsGiven(property) ? property.fieldNames[0] : undefined
  }

  /** The column of the primary key. */
  get primaryKey(): string {
    return this.columnOf(this.#meta.primaryKeys[0] ?? '') ?? ''
  }

  /** Where in a row that begins with them the primary key is, whatever it can be compared with. */
  get keyColumn(): KeyColumn {
    const column = this.#properties.findIndex(({ name }) => name === this.#meta.primaryKeys[0])
    return { table: this.table, key: this.columns[column] ?? '', column }
  }

  /** Puts an entity that was made of this row under an entity manager, with whatever was changed since. */
  attach(em: EntityManager, entity: object, row: Row, offset = 0): void {
    const columns = Object.fromEntries(this.columns.map((column, i) => [column, row[offset + i]]))
    const snapshot = em.getComparator().mapResult(this.#meta, columns)
    for (const { name } of this.#properties) {
      const value: unknown = Reflect.get(entity, name)
      Reflect.deleteProperty(entity, name)
      Reflect.set(entity, name, value)
    }
    em.getUnitOfWork().register(entity, snapshot, { refresh: true, loaded: true })
    helper(entity).populated()
  }
}

function isTable(em: EntityManager, meta: EntityMetadata): boolean {
  const isSpecial =
    meta.virtual ||
    meta.view ||
    meta.schema ||
    meta.inheritanceType ||
    meta.root !== meta ||
    meta.forceConstructor
  const hooks = [EventType.onInit, EventType.onLoad].some((each) =>
    em.getEventManager().hasListeners(each, meta),
  )
  return !isSpecial && !hooks && meta.primaryKeys.length === 1
}

function isColumn(property: EntityProperty): boolean {
  const { kind, persist, fieldNames, formula, lazy, embedded, accessor, hasConvertToJSValueSQL } = property
  const isRead = !formula && !lazy && !embedded && !accessor && !hasConvertToJSValueSQL
  if (persist === false) return isRead
  return kind === ReferenceKind.SCALAR && fieldNames?.length === 1 && isRead
}

// What is asked for goes into the statement as it is.
function isKeptAsGiven({ customType }: EntityProperty): boolean {
  return !customType || customType instanceof UuidType || customType instanceof BigIntType
}

/** What all filters together ask for, if that is for certain values in certain columns, whoever asks; nothing else will do. */
async function filtersOf(em: EntityManager, meta: EntityMetadata): Promise<Map<string, unknown> | undefined> {
  const sources = [em.config.get('filters'), meta.filters] as (typeof meta.filters)[]
  const known = sources.flatMap((each) => QueryHelper.getActiveFilters(meta, {}, each))
  if (known.some(({ cond, rls }) => typeof cond === 'function' || rls)) return undefined
  // Those of the entity manager are among them, which nobody else can see.
  const all: object = (await em.applyFilters(meta.class, {}, {}, 'read')) ?? {}
  const each = '$and' in all ? (all.$and as object[]) : [all].filter((one) => Object.keys(one).length > 0)
  const conditions = each.flatMap((one) => Object.entries(one))
  const columns = new Map<string, unknown>()
  for (const [name, value] of conditions) {
    const property = meta.properties[name]
    const column = property?.fieldNames?.[0]
    if (!property || column === undefined || !isKeptAsGiven(property) || !isConstant(value)) return undefined
    columns.set(column, value)
  }
  return each.length === known.length && columns.size === conditions.length ? columns : undefined
}

function isConstant(value: unknown): boolean {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value)
}
