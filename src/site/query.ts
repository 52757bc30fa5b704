import type { ExtendableContext } from 'koa'
import { validate as isUUID } from 'uuid'

/**
 * The value of a query parameter, or a list of values if the parameter is repeated. Koa's `ctx.query` takes quadratic
 * time for thousands of repeated parameters.
 */
export function queryParameter(
  { querystring }: ExtendableContext,
  name: string,
): string | string[] | undefined {
  if (querystring === '') return undefined
  const values = new URLSearchParams(querystring).getAll(name)
  return values.length <= 1 ? values[0] : values
}

/** The UUID in `?before=`: the list shows only rows that are older than the row with this id. Ignores other values. */
export function pageCursor(ctx: ExtendableContext): string | undefined {
  const id = queryParameter(ctx, 'before')
  return typeof id === 'string' && isUUID(id) ? id.toLowerCase() : undefined
}

/** The number in `?page=`, by default 1. */
export function pageNumber(ctx: ExtendableContext): number {
  const number = queryParameter(ctx, 'page')
  return typeof number === 'string' && /^[1-9]\d?$/.test(number) ? Number(number) : 1
}
