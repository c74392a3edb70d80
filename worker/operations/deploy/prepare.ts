import { lineOf } from '../doctor/finding.ts';
import type { runChecks } from '../doctor/run-checks.ts';
import type { Target, Values } from '../target.ts';

type Tools = { runChecks: typeof runChecks; say: (line: string) => void };

/** Whether everything is in order for a deployment; says what is not. */
export async function isReady(target: Target, values: Values, { runChecks, say }: Tools, withoutContact: boolean) {
  if (target === 'production' && !values['CONTACT_URL'] && !withoutContact) {
    say('✗ CONTACT_URL is missing: messages from the contact form would go nowhere. Set it, or say --without-contact.');
    return false;
  }
  const findings = await runChecks(values, { target, mayBeBehind: true });
  for (const finding of findings) say(lineOf(finding));
  return findings.every(({ ok }) => ok);
}

/** The site's address without a slash at its end. */
export function siteOf({ SITE_URL = '' }: Values): string {
  return SITE_URL.replace(/\/+$/, '');
}
