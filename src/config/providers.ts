import { createPrivateKey } from 'node:crypto'
import { isLoopback } from '../auth/provider-response.ts'
import { label } from './branding.ts'
import { type Environment, oneOf, type VariableType } from './environment.ts'
import { readFile } from './jwt-keys.ts'

/** The client of the site at an identity provider. */
export type ProviderConfig = Readonly<ReturnType<typeof readProvider>>

interface Preset {
  readonly label: string
  readonly kind?: 'github' | 'apple'
  readonly issuer: string
  readonly prompt?: string
  readonly clientAuthentication?: 'client_secret_post'
  readonly tenantClaim?: 'hd' | 'tid'
}

const chooses = { prompt: 'select_account', clientAuthentication: 'client_secret_post' } as const

const presets: Readonly<Record<string, Preset>> = {
  google: { label: 'Google', issuer: 'https://accounts.google.com', tenantClaim: 'hd', ...chooses },
  github: { label: 'GitHub', issuer: 'https://github.com', kind: 'github' },
  microsoft: {
    label: 'Microsoft',
    issuer: 'https://login.microsoftonline.com/common/v2.0',
    tenantClaim: 'tid',
    ...chooses,
  },
  apple: {
    label: 'Apple',
    issuer: 'https://appleid.apple.com',
    kind: 'apple',
    clientAuthentication: 'client_secret_post',
  },
}

/** Reads `PROVIDERS`, and the variables `PROVIDER_<NAME>_…` of each provider. */
export function readProviders(
  environment: Environment,
  publicUrl: URL | undefined,
): readonly ProviderConfig[] {
  const ids = environment.list('PROVIDERS')
  if (ids.some((id) => !/^[a-z][a-z\d-]{0,29}$/.test(id)) || new Set(ids).size < ids.length) {
    environment.reject(
      'PROVIDERS',
      'must be different names in lower case, separated by commas, such as google,github,company',
    )
    return []
  }
  if (ids.length > 0 && !publicUrl)
    environment.reject('PUBLIC_URL', 'must be set with PROVIDERS, because providers redirect browsers to it')
  const providers = ids.map((id) => readProvider(environment, id))
  for (const [index, { id, issuer }] of providers.entries()) {
    // The issuer and the subject identify a person, so the subjects of one issuer must not come from two clients.
    if (
      issuer !== '' &&
      providers.findIndex((each) => URL.parse(each.issuer)?.href === URL.parse(issuer)?.href) < index
    )
      environment.reject(variableOf(id, 'ISSUER'), 'is the issuer of another provider too')
  }
  return providers
}

function variableOf(id: string, name: string): string {
  return `PROVIDER_${id.toUpperCase().replaceAll('-', '_')}_${name}`
}

function readProvider(environment: Environment, id: string) {
  const preset = presets[id]
  const kind = preset?.kind ?? 'openid'
  const variable = (name: string) => variableOf(id, name)
  const required = (name: string) => {
    const text = environment.text(variable(name))
    if (text === undefined)
      environment.reject(variable(name), `must be set, because PROVIDERS contains ${id}`)
    return text ?? ''
  }
  const tenant = environment.text(variable('TENANT'))
  const claim = preset?.tenantClaim
  if (tenant !== undefined && !claim)
    environment.reject(variable('TENANT'), 'has no effect. Only google and microsoft have tenants')
  const method = environment.read(variable('CLIENT_AUTHENTICATION'), oneOf('basic', 'post'), undefined)
  return {
    /** The name in `PROVIDERS`, which is part of paths and of variables. */
    id,
    /** The name on pages. */
    label: environment.read(variable('LABEL'), label(30), preset?.label ?? id),
    kind,
    issuer:
      environment.read(variable('ISSUER'), kind === 'github' ? server : issuer, preset?.issuer) ??
      required('ISSUER'),
    clientId: required('CLIENT_ID'),
    clientSecret: kind === 'apple' ? '' : required('CLIENT_SECRET'),
    clientAuthentication: method ? (`client_secret_${method}` as const) : preset?.clientAuthentication,
    /** With `select_account`, the provider lets users choose an account at each sign-in. */
    prompt: environment.text(variable('PROMPT')) ?? preset?.prompt,
    /** The organisation whose members may sign in, and the claim that names it. */
    tenant: tenant !== undefined && claim ? { claim, value: tenant } : undefined,
    apple:
      kind === 'apple'
        ? {
            teamId: required('TEAM_ID'),
            keyId: required('KEY_ID'),
            privateKey: readKey(environment, variable('PRIVATE_KEY'), required('PRIVATE_KEY')),
          }
        : undefined,
  }
}

/** An https URL, or a server on this machine for development. */
function isAllowed(url: URL | null): url is URL {
  return url !== null && (url.protocol === 'https:' || isLoopback(url))
}

const issuer: VariableType<string> = {
  expected: 'an https URL without a query, such as https://sso.example.com/realms/example',
  parse(text) {
    const url = URL.parse(text)
    return isAllowed(url) && !/[?#]/.test(text) && url.username === '' ? text : undefined
  },
}

const server: VariableType<string> = {
  expected: 'the https origin of a GitHub Enterprise Server, such as https://github.example.com',
  parse(text) {
    const url = URL.parse(text)
    return isAllowed(url) && url.href === `${url.origin}/` ? url.origin : undefined
  },
}

function readKey(environment: Environment, name: string, file: string): string {
  if (file === '') return ''
  try {
    const text = readFile(file) ?? ''
    if (createPrivateKey(text).asymmetricKeyDetails?.namedCurve === 'prime256v1') return text
  } catch {
    // Not a private key. The message must not contain a key that was set instead of a file name.
  }
  environment.reject(name, 'must be a readable file with the private key of Apple (.p8)')
  return ''
}
