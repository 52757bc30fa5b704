import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import type { Middleware } from 'koa'

/**
 * Serves the files of a folder, and generated files by their names. The files are read at the start, so that no request path
 * reaches the file system.
 */
export async function staticFiles(
  folder: string,
  generated: Readonly<Record<string, string>> = {},
): Promise<Middleware> {
  const files = new Map<string, { body: string | Buffer; etag: string }>()
  const add = (name: string, body: string | Buffer) =>
    files.set(`/${name}`, { body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` })
  for (const name of await readdir(folder)) add(name, await readFile(join(folder, name)))
  for (const [name, body] of Object.entries(generated)) add(name, body)
  return (ctx, next) => {
    const file = ctx.method === 'GET' || ctx.method === 'HEAD' ? files.get(ctx.path) : undefined
    if (!file) return next()
    ctx.status = 200
    ctx.etag = file.etag
    ctx.set('Cache-Control', 'no-cache')
    if (ctx.fresh) ctx.status = 304
    else {
      ctx.body = file.body
      ctx.type = extname(ctx.path)
    }
  }
}
