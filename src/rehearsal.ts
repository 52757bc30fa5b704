import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from './config.ts'
import { processLog } from './process-log.ts'
import { serve } from './serving.ts'

// Serves a page from a database of its own, for all that a server needs to be compiled and kept (`src/compile.ts`).

const folder = await mkdtemp(join(tmpdir(), 'koa-authenticators-'))
const config = readConfig({ DATA_DIR: folder, HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'error' })
const serving = await serve(config, processLog(config))
await fetch(`${serving.url}/login`).then((page) => page.text())
await serving.stop()
await rm(folder, { recursive: true })
