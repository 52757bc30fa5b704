import type { ExtendableContext } from 'koa'
import { validate as isUUID } from 'uuid'

/**
 * The value of a query parameter. A repeated parameter counts as empty. Koa's `ctx.query` takes quadratic time for thousands of
 * repeated parameters.
 */
export function queryParameter({ querystring }: ExtendableContext, name: string): string | undefined {
  const [value, ...others] = new URLSearchParams(querystring).getAll(name)
  return others.length === 0 ? value : ''
}

/** The UUID in `?before=`: the list shows only rows that are older than the row with this id. Ignores other values. */
export function pageCursor(ctx: ExtendableContext): string | undefined {
  const id = queryParameter(ctx, 'before') ?? ''
  return isUUID(id) ? id.toLowerCase() : undefined
}

/** The number in `?page=`, by default 1. */
export function pageNumber(ctx: ExtendableContext): number {
  const number = queryParameter(ctx, 'page') ?? ''
  return /^[1-9]\d?$/.test(number) ? Number(number) : 1
}
