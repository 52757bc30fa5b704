// Plain JavaScript, so that a Node that is too old to read the rest can still say so: `node src/start.js server`.
import { existsSync } from 'node:fs'

const oldest = 24
if (Number.parseInt(process.versions.node, 10) < oldest) {
  console.error(
    `This needs Node ${oldest} or newer, and this is ${process.version}. \`npm ci\` brings one for \`npm start\`.`,
  )
  process.exit(1)
}
if (existsSync('.env')) process.loadEnvFile()
const [program] = process.argv.splice(2, 1)
await import(`./${program}.ts`)
