import { signInRuleWords } from '#words/login';
import { readCode } from '#contract/pasted';
import { Code } from '#contract/schemas';
import * as v from 'valibot';

export function phoneError(rule: string): string {
  return rule === 'regex' ? signInRuleWords.countryCode : signInRuleWords.phoneLength;
}

/** What the field of a code shows of a typed or pasted text: at most six characters. */
export function shownCode(typed: string): string {
  return readCode(typed).slice(0, 6);
}

/** The rule that a typed code breaks; a short code is an error only after the field has lost the focus. */
export function codeError(code: string, wasLeft: boolean): string | undefined {
  if (code === '') return undefined;
  const issues = v.safeParse(Code, code).issues ?? [];
  const aboutDigits = issues.find(({ type }) => type === 'regex');
  if (aboutDigits) return signInRuleWords.codeDigits;
  return wasLeft && issues.length > 0 ? signInRuleWords.codeLength : undefined;
}
