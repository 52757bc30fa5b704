// Plain JavaScript, so that a Node that is too old for TypeScript can say so: `node src/start.js server`.
import cluster from 'node:cluster'
import { existsSync } from 'node:fs'
import module from 'node:module'

// The database, its log and the secret are readable by their owner alone, even in a folder that others can read.
process.umask(0o077)

const [program] = process.argv.splice(2, 1)
const oldest = 24
if (Number.parseInt(process.versions.node, 10) < oldest) {
  console.error(
    `This needs Node ${oldest} or newer, and this is ${process.version}. \`npm ci\` brings one for \`npm start\`.`,
  )
  process.exit(1)
}
try {
  // A worker inherits the environment of its primary.
  if (!cluster.isWorker && existsSync('.env')) process.loadEnvFile()
} catch {
  console.error('.env must be a file that can be read, with a line NAME=value for each variable.')
  process.exit(1)
}
// Not the default folder: that is below /tmp, where other users may write.
module.enableCompileCache(`${import.meta.dirname}/../node_modules/.cache/node`)
await import(`./${program}.ts`)
// A process that is killed would not write its cache.
module.flushCompileCache()
