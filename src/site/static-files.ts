import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import type { Context, Middleware, Next } from 'koa'
import { digestOf } from '../database/identifier.ts'
import { queryParameter } from './query.ts'

const encoders = { br: promisify(brotliCompress), gzip: promisify(gzip) }
const year = 31_536_000

interface StaticFile {
  readonly body: Buffer
  readonly etag: string
  /** The compressed bodies. Empty for a picture. */
  readonly encoded: ReadonlyMap<string, () => Promise<Buffer>>
}

/**
 * Reads the files of a folder, and serves them and generated files from memory, so that no request path reaches the file system.
 *
 * @returns `version`: a digest of all files. Pages link to `/style.css?v=<version>`, which browsers keep without asking again
 */
export async function staticFiles(
  folder: string,
  generated: Readonly<Record<string, string>>,
): Promise<{ version: string; serve: Middleware }> {
  const files = new Map<string, StaticFile>()
  for (const name of await readdir(folder))
    files.set(`/${name}`, staticFile(name, await readFile(join(folder, name))))
  for (const [name, text] of Object.entries(generated))
    files.set(`/${name}`, staticFile(name, Buffer.from(text)))
  const version = digestOf([...files].map(([path, { etag }]) => `${path} ${etag}`).join()).slice(0, 10)
  return { version, serve }

  async function serve(ctx: Context, next: Next): Promise<void> {
    const file = ctx.method === 'GET' || ctx.method === 'HEAD' ? files.get(ctx.path) : undefined
    if (!file) return next()
    const accepted = ctx.acceptsEncodings()
    const encoding = [...file.encoded.keys()].find((each) => accepted.includes(each))
    ctx.status = 200
    ctx.etag = `"${file.etag}${encoding ?? ''}"`
    // Another version gets the file of this process, which may be newer or older, so it must not be kept.
    const isKept = queryParameter(ctx, 'v') === version
    ctx.set('Cache-Control', isKept ? `public, max-age=${year}, immutable` : 'no-cache')
    if (file.encoded.size > 0) ctx.vary('Accept-Encoding')
    if (ctx.fresh) {
      ctx.status = 304
      return
    }
    ctx.type = extname(ctx.path)
    if (encoding) ctx.set('Content-Encoding', encoding)
    ctx.body = (await file.encoded.get(encoding ?? '')?.()) ?? file.body
  }
}

function staticFile(name: string, content: Buffer): StaticFile {
  const isText = extname(name) !== '.png'
  // Browsers do not need the indentation.
  const body = /\.(css|js)$/.test(name) ? Buffer.from(content.toString().replace(/^ +/gm, '')) : content
  const encoded = Object.entries(encoders).map(([encoding, encode]) => {
    // At the first request, because the highest compression takes some time.
    let result: Promise<Buffer> | undefined
    return [encoding, () => (result ??= encode(body))] as const
  })
  return { body, etag: digestOf(body), encoded: new Map(isText ? encoded : []) }
}
