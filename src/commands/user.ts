import { runUserCommand } from './user/run-user-command.ts'

// The program behind `npm run user`.

const { code, text, problem } = await runUserCommand(process.argv.slice(2), process.env, process.stdin)
if (code === 0) console.log(text)
else console.error(problem)
process.exitCode = code
