import { signInRuleWords } from '#words/login';
import { planIds, type PlanId } from '#contract/plans';
import { Code } from '#contract/schemas';
import * as v from 'valibot';

export type Destination = '/' | '/login' | '/account' | '/pending-approval' | '/plans' | ReturnPage;

/** Pages to which the login leads back. */
export type ReturnPage = '/cancel';

/** The page to which a login leads back, from the search parameter `next` or from a path in any language. */
export function returnPage(path: unknown): ReturnPage | undefined {
  return typeof path === 'string' && /^(\/[a-z-]+)?\/cancel\/?$/.test(path) ? '/cancel' : undefined;
}

export type AfterLogin = { to: Destination; notice: 'none' | 'success' | 'issue' };

/** What the address of the login names: a chosen plan, and the page that follows. */
export type LoginWishes = { plan?: string | undefined; next?: ReturnPage | undefined };

/** The page after a code was verified. */
export function afterLogin(status: string | null | undefined, { plan, next }: LoginWishes): AfterLogin {
  if (isPlanId(plan)) return { to: '/account', notice: 'success' };
  if (!status || status === 'approved' || status === 'authenticated') return { to: next ?? '/account', notice: 'none' };
  if (status === 'pending') return { to: '/pending-approval', notice: 'none' };
  return { to: '/', notice: 'issue' };
}

export function isPlanId(id: string | undefined): id is PlanId {
  return planIds.some((known) => known === id);
}

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
