import { signInRuleWords } from '#words/login';
import { Code } from '#contract/schemas';
import * as v from 'valibot';

/** A typed number without spaces, dashes, dots and parentheses. */
export function cleanPhone(typed: string): string {
  return typed.replace(/[\s\u00a0().\u2010-\u2015-]/g, '');
}

export function phoneError(rule: string): string {
  return rule === 'regex' ? signInRuleWords.countryCode : signInRuleWords.phoneLength;
}

/** A typed code without spaces and dashes, at most six characters. */
export function cleanCode(typed: string): string {
  return typed.replace(/[\s\u00a0-]/g, '').slice(0, 6);
}

/** The rule that a typed code breaks; a short code is an error only after the field has lost the focus. */
export function codeError(code: string, wasLeft: boolean): string | undefined {
  if (code === '') return undefined;
  const issues = v.safeParse(Code, code).issues ?? [];
  const aboutDigits = issues.find(({ type }) => type === 'regex');
  if (aboutDigits) return signInRuleWords.codeDigits;
  return wasLeft && issues.length > 0 ? signInRuleWords.codeLength : undefined;
}
