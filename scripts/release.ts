import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

// Publishes `src/auth` with provenance (https://docs.npmjs.com/generating-provenance-statements), which needs the identity
// of the release workflow. `--dry-run` only lists the files of the tarball.

const root = join(import.meta.dirname, '..')
const { version } = JSON.parse(readFileSync(join(root, 'src/auth/package.json'), 'utf8'))
const isDryRun = process.argv.includes('--dry-run')
const tag = process.env.GITHUB_REF_NAME

if (!isDryRun && tag !== `v${version}`) {
  console.error(
    `The tag is ${tag ?? 'missing'}. It must be v${version}, the version in src/auth/package.json.`,
  )
  process.exit(1)
}
if (!readFileSync(join(root, 'CHANGELOG.md'), 'utf8').includes(`\n## ${version}`)) {
  console.error(`CHANGELOG.md has no section "## ${version}". Add it.`)
  process.exit(1)
}
const how = isDryRun ? ['--dry-run'] : ['--provenance', '--access', 'public']
execFileSync('npm', ['publish', ...how], { cwd: join(root, 'src/auth'), stdio: 'inherit' })
