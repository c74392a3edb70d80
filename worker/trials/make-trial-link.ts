import { and, eq, isNotNull, not, type SQL } from 'drizzle-orm';
import { trialLinks, usedTrials, users } from '#db/schema';
import { phoneOfId } from '../identity/aliases.ts';
import {
  applyToPerson,
  personTransaction,
  userNamedSql,
  type Person,
  type PersonCall,
} from '../bot/person.ts';
import type { PaidPlanId } from '../contract/plans.ts';
import { bindTrialLink } from '../identity/bindings.ts';
import { keyedHash, keyedHashes } from '../lib/crypto.ts';
import { fixed, isTrue, rowExists } from '../lib/expressions.ts';
import { RequestError } from '../lib/request-error.ts';
import { isIn } from '../lib/sql.ts';
import type { Settings } from '../settings.ts';
import { trialLinkLifetimeMs } from './trials.ts';

type Trial = { tier: PaidPlanId; days: number };

/**
 * Makes a link that begins a trial, and returns its token and its end (unix ms). The token is
 * derived from the call's id, so that a repeated call returns the same one and no token is stored.
 * 404 for an unknown id. Then the first condition that holds decides:
 *
 * | outcome    | condition                    | response          | rows                       |
 * | ---------- | ---------------------------- | ----------------- | -------------------------- |
 * | `conflict` | two people (`bot/person.ts`) | 409               | see there                  |
 * | `stranger` | the number has not written   | 404               | none                       |
 * | `spent`    | the number has had a trial   | 409 `trial_spent` | `bot_calls`                |
 * | `made`     | none of these                | the link          | `bot_calls`; `trial_links` |
 */
export async function makeTrialLink(
  scope: PersonCall & { settings: Settings },
  person: Person,
  { tier, days }: Trial,
): Promise<{ token: string; expiresAt: number }> {
  const { settings, now, botCall } = scope;
  const peppers = settings.CODE_PEPPER;
  const token = await keyedHash(peppers[0]!, 'trial-link', botCall.id);
  const mac = await keyedHash(peppers[0]!, 'trial', token);
  const phone = person.phone ?? (await phoneOfId(scope, person.businessUserId!));
  const phoneMacs = await keyedHashes(peppers, 'phone', phone);
  const bindingMac = await bindTrialLink(settings, mac, phone);

  // With a known id and a number that nobody
  // has, the hash would be of the wrong number.
  const hasWritten = and(eq(users.phone, phone), isNotNull(users.contactedAt));
  const tx = await personTransaction(scope, person, {
    facts: {
      expiresAt: fixed(now + trialLinkLifetimeMs),
      hasWritten: isTrue(hasWritten),
      hadTrial: rowExists(usedTrials, isIn(usedTrials.phoneMac, phoneMacs)),
    },
    outcomes: (facts) => ({
      stranger: not(facts.hasWritten),
      spent: facts.hadTrial,
    }),
    otherwise: 'made',
    unstored: ['stranger'],
  });

  tx.insert(['made'], trialLinks, {
    mac,
    userId: userNamedSql(person) as SQL,
    phoneMac: phoneMacs[0]!,
    bindingMac,
    tier,
    days,
    expiresAt: now + trialLinkLifetimeMs,
  });

  const { outcome, facts } = await applyToPerson(tx);

  switch (outcome) {
    case 'stranger': {
      const message = 'This person has not written to the assistant';
      throw new RequestError('notFound', { message });
    }
    case 'spent':
      throw new RequestError('trialSpent');
    case 'made':
      return { token, expiresAt: facts.expiresAt };
  }
}
