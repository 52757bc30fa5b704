import { Session } from 'node:inspector/promises'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root } from '../src/config/root.ts'
import { bearer, password, signUp, takeToken } from '../src/testing/people.ts'
import { startSite } from '../src/testing/site.ts'

// Prints the source files of which code runs for the third bearer request and the third form sign-in.
const stops: (() => Promise<void>)[] = []
const site = await startSite({ after: (stop) => stops.push(stop) }, { THROTTLE: 'on' })
const person = await signUp(site)
const token = await takeToken(site, person)

const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

await printFiles('GET /me with a bearer token', () => site.visitor().get('/me', bearer(token)))
await printFiles('POST /login by form', () =>
  site.visitor().form('/login', { username: person.email, password }),
)
for (const stop of stops) await stop()

async function printFiles(name: string, send: () => Promise<{ status: number }>): Promise<void> {
  await send()
  await send()
  await session.post('Profiler.takePreciseCoverage')
  const { status } = await send()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const files = result
    .filter(
      ({ url, functions }) => isSource(url) && functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0),
    )
    .map(({ url }) => relative(root, fileURLToPath(url)))
  console.log(`${name} (${status}): ${files.length} files`)
  for (const file of files.sort()) console.log(`  ${file}`)
}

function isSource(url: string): boolean {
  return url.startsWith('file:') && /\/src\/(?!testing\/)/.test(url) && !url.includes('/node_modules/')
}
