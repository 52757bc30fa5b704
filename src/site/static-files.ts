import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import type { Middleware } from 'koa'

/** Serves the files of a folder. They are read at the start, so that no request path reaches the file system. */
export async function staticFiles(folder: string): Promise<Middleware> {
  const files = new Map<string, { body: Buffer; etag: string }>()
  for (const name of await readdir(folder)) {
    const body = await readFile(join(folder, name))
    files.set(`/${name}`, { body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` })
  }
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
