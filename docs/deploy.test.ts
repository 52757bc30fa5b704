import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { parse } from 'yaml'
import { finishTimeout } from '../src/commands/workers/primary.ts'
import { parseCaddyfile, parseDockerfile, parseUnit } from './deployment-files.ts'

const root = join(import.meta.dirname, '..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

interface Service {
  readonly image?: string
  readonly user?: string
  readonly environment: Readonly<Record<string, string>>
  readonly volumes: readonly string[]
  readonly tmpfs?: readonly string[]
  readonly networks: readonly string[]
  readonly ports?: readonly string[]
  readonly cap_add?: readonly string[]
  readonly cap_drop: readonly string[]
  readonly security_opt: readonly string[]
  readonly read_only: boolean
  readonly mem_limit: string
  readonly pids_limit: number
  readonly stop_grace_period: string
}

const services: Record<'proxy' | 'site' | 'database', Service> = parse(read('compose.yaml'), {
  merge: true,
}).services
const dockerfile = parseDockerfile(read('Dockerfile'))
const unit = parseUnit(read('deploy/koa-authenticators.service'))
const caddyfile = parseCaddyfile(read('deploy/Caddyfile'))
const page = read('docs/deploy.md')
const { engines, scripts, devDependencies } = JSON.parse(read('package.json'))
const explained = new Set(matches(read('.env.example'), /^#?([A-Z][A-Z_]*)=/gm))

/** The first capture group of each match in a text. */
function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, found = '']) => found)
}

/** The arguments of all instructions with that name. */
function instructions(name: string): string[] {
  return dockerfile.filter(([each]) => each === name).map(([, text]) => text)
}

/** The paths of the site's own source files. */
const sources = globSync('src/**/*.ts', { cwd: root }).filter(
  (file) =>
    !/\.test\.ts$|\/dist\/|\/node_modules\//.test(file) && !/^src\/(faults|promises|testing)\//.test(file),
)

describe('the deployment', () => {
  test('sets only variables of .env.example, which lists all variables of the site', () => {
    const known = sources.flatMap((file) =>
      matches(read(file), /\benvironment\.(?:read|text|list)\(\s*'([A-Z_]+)'/g),
    )
    assert.deepEqual([...explained].sort(), [...new Set(known)].sort())

    const set = [
      ...instructions('ENV').flatMap((text) => matches(text, /([A-Z_]+)=/g)),
      ...matches(read('compose.yaml'), /\$\{([A-Z_]+)/g),
      ...Object.values(services).flatMap(({ environment }) => Object.keys(environment)),
      ...matches(read('deploy/Caddyfile'), /\{\$([A-Z_]+)\}/g),
      ...(unit.Environment ?? []).flatMap((text) => matches(text, /^([A-Z_]+)=/g)),
      ...matches(page, /\b([A-Z]+_[A-Z_]+)\b/g),
    ].filter((name) => !/^(POSTGRES|PASSWORD_HASH)_[A-Z]+$/.test(name))
    assert.ok(set.length > 30)
    assert.deepEqual(
      set.filter((name) => !explained.has(name)),
      [],
    )
  })

  test('starts the site as npm start does, on the tested Node version', () => {
    const [command = ''] = instructions('CMD')
    assert.equal(JSON.parse(command).join(' '), scripts.start)
    assert.deepEqual(unit.ExecStart, [`/usr/bin/${scripts.start}`])
    assert.deepEqual(instructions('FROM'), [`node:${devDependencies.node}-trixie-slim`])
    const [major] = matches(engines.node, /^>=(\d+)$/g)
    assert.match(page, new RegExp(`a Node\\s+${major} in`))
  })

  test('gives a draining site time to complete its requests', () => {
    const longest = finishTimeout / 1000 + 5
    const [drain] = (unit.Environment ?? []).flatMap((text) => matches(text, /^DRAIN_SECONDS=(\d+)$/g))
    assert.ok(Number(unit.TimeoutStopSec?.[0]) >= Number(drain) + longest)
    const { environment, stop_grace_period } = services.site
    assert.ok(Number.parseInt(stop_grace_period, 10) >= Number(environment.DRAIN_SECONDS) + longest)
  })

  test('checks readiness on the port of the site', () => {
    const [port] = matches(read('.env.example'), /^#PORT=(\d+)$/gm)
    assert.deepEqual(instructions('EXPOSE'), [port])
    const [check = ''] = instructions('HEALTHCHECK')
    assert.ok(check.includes(`process.env.PORT || ${port}}/readyz`))
    const proxy = caddyfile['{$PUBLIC_URL}']?.[`reverse_proxy site:${port}`]
    assert.deepEqual(
      Object.keys(proxy ?? {}).filter((name) => name.startsWith('health_')),
      ['health_uri /readyz', 'health_interval 1s', 'health_timeout 3s'],
    )
  })
})

describe('compose.yaml', () => {
  test('drops unneeded privileges of each container', () => {
    for (const [name, service] of Object.entries(services)) {
      assert.deepEqual(service.cap_drop, ['ALL'], name)
      assert.deepEqual(service.security_opt, ['no-new-privileges:true'], name)
      assert.equal(service.read_only, true, name)
    }
    const added = Object.entries(services).map(([name, { cap_add }]) => [name, cap_add])
    assert.deepEqual(Object.fromEntries(added), {
      proxy: ['NET_BIND_SERVICE'],
      site: undefined,
      database: undefined,
    })
    assert.equal(services.database.user, 'postgres')
  })

  test('limits the memory and the processes of each container', () => {
    for (const [name, { mem_limit, pids_limit }] of Object.entries(services)) {
      assert.match(mem_limit, /^\d+[mg]$/, name)
      assert.ok(pids_limit >= 64 && pids_limit <= 512, name)
    }
  })

  test('mounts a tmpfs into the proxy and the database, for files outside of the volumes', () => {
    assert.deepEqual(services.proxy.tmpfs, ['/config', '/tmp'])
    assert.deepEqual(services.database.tmpfs, ['/run/postgresql', '/tmp'])
  })

  test('pins each image to an exact version', () => {
    const images = [services.proxy.image, services.database.image, ...instructions('FROM')]
    for (const image of images)
      assert.match(image ?? '', /^[a-z]+:\d+\.\d+(\.\d+)?-[\w-]+(@sha256:[\da-f]{64})?$/)
    assert.match(page, /docker buildx imagetools inspect/)
  })

  test('publishes only the ports of the proxy, and lets only the site reach the database', () => {
    const published = Object.entries(services).filter(([, { ports }]) => ports)
    assert.deepEqual(
      published.map(([name]) => name),
      ['proxy'],
    )
    assert.deepEqual(services.proxy.networks, ['outside'])
    assert.deepEqual(services.database.networks, ['inside'])
    assert.equal(parse(read('compose.yaml'), { merge: true }).networks.inside.internal, true)
  })
})

describe('the unit for systemd', () => {
  test('limits the memory and the threads', () => {
    assert.deepEqual([unit.MemoryMax, unit.TasksMax], [['1G'], ['256']])
  })

  test('drops unneeded privileges of the process', () => {
    const { NoNewPrivileges, CapabilityBoundingSet, ProtectSystem, User } = unit
    assert.deepEqual(
      [NoNewPrivileges, CapabilityBoundingSet, ProtectSystem, User],
      [['yes'], [''], ['strict'], ['koa-authenticators']],
    )
  })
})

describe('the image', () => {
  const copied = instructions('COPY').flatMap((files) => files.split(/\s+/).slice(0, -1))

  test('copies only existing files that .dockerignore allows', () => {
    const allowed = matches(read('.dockerignore'), /^!(.+)$/gm)
    for (const file of copied) {
      assert.ok(existsSync(join(root, file)), file)
      assert.ok(allowed.includes(file.split('/')[0] ?? ''), file)
    }
    assert.match(read('.dockerignore'), /^\*$/m)
  })

  test('contains every file that the site imports', () => {
    assert.ok(copied.includes('src'))
    for (const file of sources)
      for (const name of matches(read(file), /\bfrom '(\.[^']+)'/g)) {
        const path = join(dirname(file), name)
        const isData = path.startsWith('src/') && path.endsWith('.json') && existsSync(join(root, path))
        assert.ok(sources.includes(path) || isData, `${file} imports ${path}`)
      }
  })

  test('runs as a user who cannot write the code or its cache', () => {
    const steps = dockerfile.filter(([name, text]) => name === 'USER' || /\.cache|serving/.test(text))
    assert.deepEqual(steps, [
      ['RUN', 'install -d -o node -g node -m 700 /data && install -d -o node -g node node_modules/.cache'],
      ['USER', 'node'],
      ['RUN', '["node", "src/start.js", "serving"]'],
      ['USER', 'root'],
      ['RUN', 'chown -R root:root node_modules/.cache && chmod -R u=rwX,go=rX node_modules/.cache'],
      ['USER', 'node'],
    ])
    assert.ok(!instructions('COPY').some((files) => files.includes('--chown')))
  })
})

describe('docs/deploy.md', () => {
  test('links to existing files, names only existing commands, and lists only existing log lines under “Monitoring”', () => {
    for (const file of matches(page, /\]\(([^)#]+)\)/g)) assert.ok(existsSync(join(root, 'docs', file)), file)
    for (const name of matches(page, /npm run (?:-s )?([a-z-]+)/g)) assert.ok(name in scripts, name)
    for (const name of matches(page, /node src\/start\.js ([a-z/-]+)/g))
      assert.ok(existsSync(join(root, `src/${name}.ts`)), name)
    const code = sources.map(read).join('\n')
    const lines = matches(page.slice(page.indexOf('## Monitoring')), /^\| (?:a `code` of )?`([^`]+)` /gm)
    assert.ok(lines.length > 10)
    for (const line of lines.filter((each) => !/^(msg|GET .*)$/.test(each)))
      assert.ok(code.includes(`'${line}'`), `nothing logs "${line}"`)
  })

  test('is linked from README, the Dockerfile, compose.yaml and the unit', () => {
    for (const file of ['README.md', 'Dockerfile', 'compose.yaml', 'deploy/koa-authenticators.service'])
      assert.match(read(file), /docs\/deploy\.md/)
  })
})
