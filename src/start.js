// Plain JavaScript, so that a Node that is too old to read the rest can still say so: `node src/start.js server`.
import { existsSync } from 'node:fs'
import module from 'node:module'

// The database, its log and the secret are for whoever runs this and nobody else, whatever the folder allows.
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
  // A worker has the environment that its primary has, however old that is; what is made ready is the same for all.
  if (program !== 'worker' && program !== 'compile' && existsSync('.env')) process.loadEnvFile()
} catch {
  console.error('.env must be a file that can be read, with a line NAME=value for each variable.')
  process.exit(1)
}
// What was compiled once is not compiled again, and the compiler takes no memory: in a folder that nobody else writes to.
module.enableCompileCache?.(`${import.meta.dirname}/../node_modules/.cache/node`)
const { urlOf } = await import('./bundle/bundle.ts')
await import(urlOf(program))
// At once: whoever is killed writes nothing down.
module.flushCompileCache?.()
