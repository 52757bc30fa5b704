import type { ExtendableContext } from 'koa'

/**
 * The parameter of that name in the query of a request; a list where there are several of it. Koa's own `ctx.query` goes through all
 * of them for each: thousands, which fit into one request, would have everybody wait for seconds.
 */
export function queried({ querystring }: ExtendableContext, name: string): string | string[] | undefined {
  const values = new URLSearchParams(querystring).getAll(name)
  return values.length <= 1 ? values[0] : values
}
