import { Code } from '#contract/schemas';
import * as v from 'valibot';

/** The rule that a typed code breaks; a short code is an error only after the field has lost the focus. */
export function codeError(code: string, wasLeft: boolean): string | undefined {
  if (code === '') return undefined;
  const issues = v.safeParse(Code, code).issues ?? [];
  const aboutDigits = issues.find(({ type }) => type === 'regex');
  if (aboutDigits) return aboutDigits.message;
  return wasLeft ? issues[0]?.message : undefined;
}
