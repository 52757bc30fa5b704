import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

// Runs the type check, the lint rules and the quick tests in parallel, and prints the standard output of each when it ends.
const started = performance.now()
const results = await Promise.all(['types', 'lint', 'unit'].map(runScript))
console.log(`check: ${Math.round((performance.now() - started) / 1000)} s`)
process.exitCode = results.every(Boolean) ? 0 : 1

async function runScript(name: string): Promise<boolean> {
  const child = spawn('npm', ['run', '--silent', name], { stdio: ['ignore', 'pipe', 'inherit'] })
  const output = text(child.stdout)
  const [code] = await once(child, 'exit')
  console.log(`${await output}${name}: ${code === 0 ? 'passed' : 'failed'}`)
  return code === 0
}
