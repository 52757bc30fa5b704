// Plain JavaScript, so that an old Node without TypeScript can report its version. Usage: `node src/start.js server`.
import cluster from 'node:cluster'
import { existsSync, readFileSync } from 'node:fs'
import module from 'node:module'
import { extname } from 'node:path'

// Only the owner can read new files, such as the database.
process.umask(0o077)

const [program] = process.argv.splice(2, 1)
const oldest = 24
if (Number.parseInt(process.versions.node, 10) < oldest) {
  console.error(
    `Node ${process.version} is too old: the site needs Node ${oldest} or newer. Run \`npm ci\` and then \`npm start\`.`,
  )
  process.exit(1)
}
// A worker inherits the environment of its primary.
const hasFile = !cluster.isWorker && existsSync('.env')
try {
  if (hasFile) process.loadEnvFile()
} catch {
  console.error('.env cannot be read. It must be a file with one NAME=value on each line.')
  process.exit(1)
}
if (hasFile) {
  const { cutVariable } = await import('./config/env-file.ts')
  const name = cutVariable(readFileSync('.env', 'utf8'))
  if (name) {
    console.error(`.env cuts ${name} at #, which begins a comment. Put the value in quotes.`)
    process.exit(1)
  }
}
// The default folder would be below /tmp, where other users may write.
module.enableCompileCache(`${import.meta.dirname}/../node_modules/.cache/node`)
inheritFormats()
await import(`./${program}.ts`)
// Writes the cache now, because a killed process would not write it.
module.flushCompileCache()

/**
 * Gives a file that an ES module imports by a relative path the format of that module, if it has the same extension. Otherwise, Node
 * reads a package.json for each file, which slows the start and takes memory.
 */
function inheritFormats() {
  const formats = new Map()
  module.registerHooks({
    resolve(specifier, context, nextResolve) {
      const { parentURL = '' } = context
      const format = formats.get(parentURL)
      const inherits =
        format?.startsWith('module') && specifier.startsWith('.') && extname(specifier) === extname(parentURL)
      const resolved = inherits
        ? { url: new URL(specifier, parentURL).href, format, shortCircuit: true }
        : nextResolve(specifier, context)
      formats.set(resolved.url, resolved.format)
      return resolved
    },
  })
}
