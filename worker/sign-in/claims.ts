import { and, eq, gt, inArray, isNotNull, isNull, not } from 'drizzle-orm';
import { aliases, claims, users } from '#db/schema';
import { botTransaction } from '../bot/bot-transaction.ts';
import type { BotCall } from '../bot/signed-call.ts';
import { isContestedSql } from '../identity/contest.ts';
import { bindNumber } from '../identity/link-identity.ts';
import type { PhoneNumber } from '../identity/phone.ts';
import { bindAlias } from '../identity/bindings.ts';
import { keyedHash, keyedHashes } from '../lib/crypto.ts';
import { RequestError } from '../lib/request-error.ts';
import { openJson, sealJson } from '../lib/sealed-json.ts';
import type { Peppers } from '../lib/secrets.ts';
import { columnFact, minus, rowExists } from '../lib/expressions.ts';
import { transaction, type On, type Transaction } from '../lib/transaction.ts';
import { sql } from '../lib/sql-text.ts';
import type { Settings } from '../settings.ts';
import type { Scope } from '../request-scope.ts';

export const idMacs = ({ CODE_PEPPER }: Peppers, businessUserId: string) =>
  keyedHashes(CODE_PEPPER, 'claim', businessUserId);

type NewClaim = {
  businessUserId: string;
  phone: PhoneNumber;
  sentBy: string;
  codeMac: string;
  expiresAt: number;
};

/** Of the id only a keyed hash and ciphertext. */
export async function claimRow(settings: Settings, { businessUserId, phone, ...claim }: NewClaim) {
  const [pepper] = settings.CODE_PEPPER as [string];
  const mac = await keyedHash(pepper, 'claim', businessUserId);
  const sealed = await sealNames(settings, mac, { businessUserId, phone });
  return {
    mac,
    sealed,
    triesLeft: settings.require('CODE_TRIES'),
    provenAt: null,
    userId: null,
    ...claim,
  };
}

export type ClaimNames = { businessUserId?: string; phone: PhoneNumber };

const sealingOf = (mac: string) => ({
  purpose: 'claim' as const,
  context: `claim|v1|${mac}`,
});

export const sealNames = ({ CODE_PEPPER }: Peppers, mac: string, names: ClaimNames) =>
  sealJson(CODE_PEPPER, sealingOf(mac), names);

export type SealedClaim = { mac: string; sealed: string };

/** Null if no secret of `CODE_PEPPER` opens them. */
export const openNames = ({ CODE_PEPPER }: Peppers, { mac, sealed }: SealedClaim) =>
  openJson<ClaimNames>(CODE_PEPPER, sealingOf(mac), sealed);

type Tied = {
  sentBy: string;
  businessUserId: string;
  phone: PhoneNumber;
};
export const isProvenSql = (sentBy: string) =>
  and(eq(claims.sentBy, sentBy), isNotNull(claims.provenAt))!;

/**
 * Once the claim is proven and its user has the number, uncontested: stores the id in `aliases` if nobody has
 * it, binds the number to it, and deletes the claim.
 */
export async function tieClaim<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: On<Outcome>,
  { settings, now }: Scope<'settings' | 'now'>,
  { sentBy, businessUserId, phone }: Tied,
): Promise<void> {
  const bindingMac = await bindAlias(settings, businessUserId, phone);
  const row = {
    kind: 'business' as const,
    value: businessUserId,
    userId: columnFact<string>(claims.userId),
    proof: 'claim' as const,
    at: now,
    bindingMac,
  };

  // A row alone moves no id to another account.
  const isOfNumber = and(eq(users.id, claims.userId), eq(users.phone, phone));
  const isTheirs = and(rowExists(users, isOfNumber), not(isContestedSql(phone)));
  const where = and(isProvenSql(sentBy), isTheirs)!;

  tx.insert(on, aliases, row, {
    from: claims,
    where,
    upsert: 'ignore',
  });
  bindNumber(tx, on, { phone, businessUserId, bindingMac });
  tx.delete(on, claims, where);
}

async function prove<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: On<Outcome>,
  scope: Scope<'db' | 'settings' | 'now'>,
  claim: Tied,
): Promise<void> {
  const isUnproven = and(eq(claims.sentBy, claim.sentBy), isNull(claims.provenAt));
  tx.update(on, claims, { provenAt: scope.now }, isUnproven);
  await tieClaim(tx, on, scope, claim);
}

/** By a status of the message: `unknown` (no claim) writes nothing, `proven` as `rightCode`. */
export async function proveClaim(
  scope: Scope<'db' | 'settings' | 'now'>,
  claim: Tied,
): Promise<void> {
  const tx = transaction(scope.db, {
    facts: { isKnown: rowExists(claims, eq(claims.sentBy, claim.sentBy)) },
    outcomes: ({ isKnown }) => ({ unknown: not(isKnown) }),
    otherwise: 'proven',
  });
  await prove(tx, ['proven'], scope, claim);
  await tx.run();
}

/**
 * Proves the claim of an id by the code that came back from it. The code stays good for the
 * sign-in; a right one ends the claim if its code has made an account. The first condition that
 * holds decides:
 *
 * | outcome     | condition                       | response | rows                             |
 * | ----------- | ------------------------------- | -------- | -------------------------------- |
 * | `ofId`      | this call again: its id has a   | 200      | none                             |
 * |             | user since                      |          |                                  |
 * | `closed`    | no claim of the id, or its time | 400      | none                             |
 * |             | or tries are over               |          |                                  |
 * | `wrongCode` | the code is another one         | 400      | `bot_calls`; `claims.tries_left` |
 * |             |                                 |          | − 1                              |
 * | `rightCode` | none of these                   | 200      | `bot_calls`; `claims.proven_at`; |
 * |             |                                 |          | see `tieClaim`                   |
 *
 * This call again finds `wrongCode` and `rightCode` stored, and writes nothing.
 */
export async function proveByCode(
  scope: Scope<'db' | 'settings' | 'now'> & { botCall: BotCall },
  businessUserId: string,
  code: string,
): Promise<void> {
  const { db, settings, now } = scope;
  const own = inArray(claims.mac, await idMacs(settings, businessUserId));
  const [claim] = await db.select().from(claims).where(own);
  const names = claim && (await openNames(settings, claim));
  const tied = claim &&
    names && {
      sentBy: claim.sentBy,
      businessUserId,
      phone: names.phone,
    };

  // A right code may have ended the claim: its call, repeated, then finds the stored outcome.
  const isOpen = tied
    ? and(eq(claims.sentBy, tied.sentBy), gt(claims.expiresAt, now), gt(claims.triesLeft, 0))
    : sql`false`;
  const macs = tied ? await keyedHashes(settings.CODE_PEPPER, 'code', tied.phone, code) : [];
  const tx = await botTransaction(scope, {
    facts: {
      isOpen: rowExists(claims, isOpen),
      isRight: rowExists(claims, and(isOpen, inArray(claims.codeMac, macs))),
    },
    outcomes: (facts) => ({
      closed: not(facts.isOpen),
      wrongCode: not(facts.isRight),
    }),
    otherwise: 'rightCode',
    unstored: ['closed'],
    others: ['ofId'],
  });

  tx.update(['wrongCode'], claims, { triesLeft: minus(claims.triesLeft, 1) }, isOpen);
  if (tied) await prove(tx, ['rightCode'], scope, tied);
  const { outcome } = await tx.apply();

  switch (outcome) {
    case 'closed':
    case 'wrongCode':
      throw refusedCode();
    case 'rightCode':
    // `recordContact` has stored this call since.
    case 'ofId':
      return;
  }
}

export function refusedCode(): RequestError {
  const message = 'code is wrong or expired';
  return new RequestError('invalidField', {
    message,
    issues: [{ path: 'code', message }],
  });
}
