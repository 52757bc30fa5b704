import { type FieldError, FieldRefusal } from '../refusal.ts'
import { fieldsOf } from './body.ts'
import type { SiteContext } from './site-context.ts'

/** Fields of the body as text: one that is missing, or anything but one text, counts as left empty. */
export function textFields<Name extends string>(ctx: SiteContext, ...names: Name[]): Record<Name, string> {
  const fields = fieldsOf(ctx)
  const texts = names.map((name) => [name, typeof fields[name] === 'string' ? fields[name] : ''])
  return Object.fromEntries(texts)
}

/** Refuses the body, 400, if there is a problem with any of its fields; names all of them at once. */
export function refuseProblems(problems: Record<string, string | undefined>): void {
  const errors = Object.entries(problems).flatMap(([field, detail]): FieldError[] =>
    detail === undefined ? [] : [{ field, detail }],
  )
  if (errors.length > 0) throw new FieldRefusal(400, errors)
}
