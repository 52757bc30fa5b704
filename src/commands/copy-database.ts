import { problemOf } from './command-error.ts'
import { copyDatabase, help } from './copy-database/copy-database.ts'

// The program behind `npm run copy-database`.

try {
  const words = process.argv.slice(2)
  const wantsHelp = words.length === 0 || words.includes('--help') || words.includes('-h')
  console.log(wantsHelp ? help : await copyDatabase(words, console.error))
} catch (error) {
  console.error(problemOf(error))
  process.exitCode = 1
}
