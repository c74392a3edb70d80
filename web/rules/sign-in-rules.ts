import { signInRuleWords } from '#words/login';
import { readCode } from '#contract/pasted';
import { Code } from '#contract/schemas';
import * as v from 'valibot';

export function phoneError(rule: string): string {
  return rule === 'regex' ? signInRuleWords.countryCode : signInRuleWords.phoneLength;
}

export function shownCode(typed: string): string {
  return readCode(typed).slice(0, 6);
}

/** A short code is wrong only after the field was left. */
export function codeError(code: string, wasLeft: boolean): string | undefined {
  if (code === '') return undefined;
  const issues = v.safeParse(Code, code).issues ?? [];
  const aboutDigits = issues.find(({ type }) => type === 'regex');
  if (aboutDigits) return signInRuleWords.codeDigits;
  return wasLeft && issues.length > 0 ? signInRuleWords.codeLength : undefined;
}
