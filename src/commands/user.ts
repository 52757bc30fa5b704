import { runUserCommand } from './user/run-user-command.ts'

// The program behind `npm run user`.

const print = (line: string) => console.log(line)
const { code, problem } = await runUserCommand(process.argv.slice(2), process.env, process.stdin, print)
if (code !== 0) console.error(problem)
process.exitCode = code
