import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { bearer } from '../../examples/testing/headers.ts'
import { freePort, startProgram } from '../../examples/testing/program.ts'

const run = promisify(execFile)
const repository = join(import.meta.dirname, '../..')

describe('the installed package', () => {
  let folder: string
  let tarball: string
  /** The files of the package. */
  let files: string[]
  /** The compiler's errors for the examples and a misspelt copy of `readme.ts`. */
  let complaints: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'koa-authenticators-'))
    await run('npm', ['pack', '--pack-destination', folder], { cwd: import.meta.dirname })
    ;[tarball = ''] = await readdir(folder)
    await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
    const options = ['--prefer-offline', '--no-audit', '--no-fund']
    await run('npm', ['install', ...options, 'koa', '@koa/router', `./${tarball}`], { cwd: folder })
    const entries = await readdir(join(folder, 'node_modules/koa-authenticators'), {
      recursive: true,
      withFileTypes: true,
    })
    files = entries.filter((each) => each.isFile()).map(({ parentPath, name }) => join(parentPath, name))
    // Links the packages of the examples instead of downloading them again.
    for (const name of ['bcrypt', 'better-sqlite3', 'koa-bodyparser', 'koa-session'])
      await symlink(join(repository, 'node_modules', name), join(folder, 'node_modules', name))
    complaints = await compileExamples(folder)
  })
  after(() => rm(folder, { recursive: true }))

  test('contains the compiled files, without tests and sources', () => {
    const paths = files.map((file) => file.replace(/^.*\/koa-authenticators\//, ''))
    const extra = paths.filter((path) => !/^dist\/[\w/-]+\.(js|d\.ts)$/.test(path))

    assert.deepEqual(extra.sort(), ['LICENSE', 'README.md', 'package.json'])
    assert.ok(paths.includes('dist/index.js') && paths.includes('dist/index.d.ts'))
    assert.ok(!paths.some((path) => path.includes('test')))
  })

  test('passes publint and are-the-types-wrong', async () => {
    const file = join(folder, tarball)
    const commands = [
      ['publint', 'run', file, '--strict'],
      // Node 22.12 and later can `require` an ES module.
      ['attw', file, '--profile', 'node16', '--ignore-rules', 'cjs-resolves-to-esm'],
    ]
    for (const [name = '', ...arguments_] of commands)
      await run(join(repository, 'node_modules/.bin', name), arguments_, { cwd: folder })
  })

  test('depends on koa, and on jose only for JWT', async () => {
    const path = join(folder, 'node_modules/koa-authenticators/package.json')
    const { dependencies, peerDependencies, peerDependenciesMeta } = JSON.parse(await readFile(path, 'utf8'))
    const required = Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional)

    assert.deepEqual(Object.keys(dependencies), ['jose'])
    const others = files.filter((file) => file.endsWith('.js') && !file.includes('/dist/jwt/'))
    for (const file of others) assert.doesNotMatch(await readFile(file, 'utf8'), /from '(jose|\.\/jwt)/, file)
    assert.deepEqual(required, ['koa'])
    assert.ok(!(await readdir(join(folder, 'node_modules'))).includes('@mikro-orm'))
  })

  test("runs the program of the repository's README", async (t) => {
    const program = await startProgram([...freePort, join(folder, 'compiled/readme.js')])
    t.after(() => program.stop())
    const getMe = (headers = {}) => fetch(`${program.url}/me`, { headers })

    const response = await getMe(bearer('analytical-engine'))
    assert.equal(response.status, 200)
    assert.equal(await response.text(), 'Ada')
    for (const headers of [bearer('difference-engine'), {}]) {
      const refused = await getMe(headers)
      assert.equal(refused.status, 401)
      assert.match(refused.headers.get('www-authenticate') ?? '', /^Bearer realm="restricted"/)
    }
  })

  test('compiles every example, and rejects a misspelt `ctx.atuh`', () => {
    assert.match(
      complaints,
      /^misspelt\.ts\(\d+,\d+\): error TS2339: Property 'atuh' does not exist on type '[^\n]+'\.\n$/,
    )
  })

  test('is found by TypeScript in CommonJS with `moduleResolution: node10`', async () => {
    await mkdir(join(folder, 'commonjs'))
    await writeFile(join(folder, 'commonjs/package.json'), '{ "type": "commonjs" }')
    const program = `import { type AuthContext, auth, guard } from 'koa-authenticators'
      class User { name = 'Ada' }
      export const middleware = [auth(), guard(User)]
      export const handler = (ctx: AuthContext) => ctx.auth.require(User).nmae`
    await writeFile(join(folder, 'commonjs/program.ts'), program)
    // A version of TypeScript that still has `node10`.
    const attw = join(repository, 'node_modules/@arethetypeswrong/core/package.json')
    const compiler = createRequire(attw).resolve('typescript/bin/tsc')
    const options =
      '--module commonjs --moduleResolution node10 --target es2022 --esModuleInterop --strict --skipLibCheck'
    const { stdout } = await run(process.execPath, [compiler, ...options.split(' '), 'program.ts'], {
      cwd: join(folder, 'commonjs'),
    }).catch((error) => error)

    assert.match(
      stdout,
      /^program\.ts\(4,\d+\): error TS2339: Property 'nmae' does not exist on type 'User'\.\n$/,
    )
    await run(process.execPath, ['program.js'], { cwd: join(folder, 'commonjs') })
  })

  test('begins requests with the user of `actingAs`', async () => {
    const program = `
      import { createServer } from 'node:http'
      import Koa from 'koa'
      import { auth, guard } from 'koa-authenticators'
      import { actingAs } from 'koa-authenticators/testing'
      class User { name = 'Ada' }
      const app = new Koa().use(auth()).use(guard(User))
      app.use((ctx) => { ctx.body = ctx.auth.require(User).name })
      const server = createServer(actingAs(app, new User())).listen(0, async () => {
        console.log(await (await fetch('http://localhost:' + server.address().port)).text())
        server.close()
      })`
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: folder,
    })
    assert.equal(stdout, 'Ada\n')
  })

  test('requires MikroORM only for the persisted models', async () => {
    const importing = (name: string) =>
      run(process.execPath, ['--input-type=module', '--eval', `import '${name}'`], { cwd: folder })

    for (const name of ['', '/jwt', '/legacy', '/openid', '/testing'])
      await importing(`koa-authenticators${name}`)
    await assert.rejects(importing('koa-authenticators/mikro-orm'), ({ stderr }) => {
      assert.match(stderr, /ERR_MODULE_NOT_FOUND/)
      assert.match(stderr, /Cannot find package '@mikro-orm\/core' imported from/)
      return true
    })
  })
})

/** Compiles the examples in a folder with the installed package. The types of other packages are from this repository. */
async function compileExamples(folder: string): Promise<string> {
  const examples = (await readdir(join(repository, 'examples'))).filter((name) => /^[\w-]+\.ts$/.test(name))
  for (const name of examples) await copyFile(join(repository, 'examples', name), join(folder, name))
  const program = await readFile(join(repository, 'examples/readme.ts'), 'utf8')
  await writeFile(join(folder, 'misspelt.ts'), program.replace('ctx.auth.require', 'ctx.atuh.require'))

  await symlink(join(repository, 'node_modules/@types'), join(folder, 'node_modules/@types'))
  const { compilerOptions } = JSON.parse(await readFile(join(repository, 'tsconfig.json'), 'utf8'))
  const typesOf = (name: string) => [join(repository, 'node_modules', name)]
  const paths = {
    '@mikro-orm/core': typesOf('@mikro-orm/core/index.d.ts'),
    '@mikro-orm/sqlite': typesOf('@mikro-orm/sqlite/index.d.ts'),
    'openid-client': typesOf('openid-client/build/index.d.ts'),
  }
  const options = {
    paths,
    customConditions: [],
    outDir: 'compiled',
    noEmit: false,
    allowImportingTsExtensions: false,
  }
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { ...compilerOptions, ...options }, include: ['*.ts'] }),
  )
  const compiler = join(repository, 'node_modules/typescript/bin/tsc')
  // The compiler fails because of the misspelt copy.
  const { stdout } = await run(process.execPath, [compiler, '-p', '.'], { cwd: folder }).catch(
    (error) => error,
  )
  return stdout
}
