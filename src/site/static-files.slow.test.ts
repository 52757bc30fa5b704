import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { describe, test } from 'node:test'
import { rawRequest } from '../auth/testing/raw-request.ts'
import { startSite } from '../testing/site.ts'

const root = join(import.meta.dirname, '../..')

/** Splits a list at its spaces and line breaks. */
function words(list: string): string[] {
  return list.trim().split(/\s+/)
}

const climbs = words(String.raw`
  ../ ../../ ../../../../../../ ./../ ..// ....// ..../ .../ ..;/ ..%00/ %00../ ..%2f ..%2F..%2F %2e%2e/
  %2e%2e%2f %2E%2E%2F%2E%2E%2F ..%5c ..\ ..\..\ %5c..%5c ..%252f %252e%252e%252f ..%c0%af %c0%ae%c0%ae/
  ..%ef%bc%8f ..%u2215 %uff0e%uff0e/ ..%e2%88%95 style.css/../ style.css/..%2f public/../ / // \ %2f %5c .%2f
  ./
`)
const targets = words(`
  package.json package-lock.json src/app.ts README.md .env data/site.sqlite .git/config views/home.eta
  node_modules/koa/package.json etc/passwd etc/passwd%00.css proc/self/environ
`)
const guesses = words(`
  .git/HEAD .git/config .git/index .gitignore .env .env.example .env.local .ci/run .npmrc .DS_Store package.json
  package-lock.json tsconfig.json biome.json README.md SECURITY.md CHANGELOG.md LICENSE data data/
  data/site.sqlite site.sqlite site.sqlite-wal data/jwt-secret jwt-secret database.sqlite db.sqlite3 src src/
  src/app.ts src/server.ts app.ts views/ views/home.eta demo.eta public public/ public/style.css node_modules/
  node_modules/.package-lock.json dist/ test-results/ docs/ e2e/ examples/ coverage/ app.js.map style.css.map
  app.ts.map style.css~ style.css.bak app.js.orig app.js.swp .app.js.swp Thumbs.db STYLE.CSS style.css/
  style.css. style.css%20 style.css%00 style.css;x ./style.css app.js/x favicon.svg/ robots.txt sitemap.xml
  crossdomain.xml security.txt .well-known/ .well-known/security.txt .htaccess web.config server-status metrics
  debug admin console graphql swagger.json openapi.json phpinfo.php index.php __proto__ constructor toString
  hasOwnProperty undefined null NaN * ? % %00 %ff ~root -
`)

describe('static files', () => {
  test('I7 are only the files in public: more than 400 other paths serve no file', async (t) => {
    const site = await startSite(t)
    const port = Number(new URL(site.url).port)
    const paths = [
      ...climbs.flatMap((climb) => targets.map((target) => `/${climb}${target}`)),
      ...guesses.map((name) => `/${name}`),
    ]
    assert.ok(paths.length > 400)
    for (const path of paths) {
      const { status, text } = await rawRequest(port, [], `GET ${path} HTTP/1.1`)
      // The home page with an empty query. It shows code.
      if (path === '/?') continue
      assert.ok(status === 404 || status === 400, `${path}: ${status}`)
      assert.doesNotMatch(text, /root:|"dependencies"|SQLite format|\[core\]|import |<%|MIT License/, path)
    }
  })

  test('I7 are all files in public, and none of them is private', async (t) => {
    const site = await startSite(t)
    const names = await readdir(join(root, 'public'), { recursive: true })
    assert.ok(names.length > 0)
    for (const name of names) {
      assert.doesNotMatch(name, /^\.|[/\\]\.|\.map$|sqlite/, 'no private file')
      assert.ok(!name.includes(sep), `${name} is in a subfolder, which is not served`)
      assert.equal((await site.visitor().get(`/${name}`)).status, 200, name)
    }
  })
})
