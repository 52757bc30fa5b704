import { existsSync } from 'node:fs'

/** The path of a program of a Debian package, or `undefined` if the package is not installed. */
export function findProgram(name: string): string | undefined {
  return [`/usr/sbin/${name}`, `/usr/bin/${name}`].find(existsSync)
}

/** Options of a test that is skipped without a program, with the reason. */
export function onlyWith(name: string): { skip: string | false } {
  return { skip: findProgram(name) === undefined && `${name} is not installed` }
}
