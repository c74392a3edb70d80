import { and, eq, gt, inArray, isNotNull, isNull, sql } from 'drizzle-orm';
import { aliases, claims } from '#db/schema';
import { unboundNumberOf } from '../identity/identity.ts';
import type { PhoneNumber } from '../identity/phone.ts';
import { bindAlias } from '../lib/bindings.ts';
import {
  fromBase64,
  keyedHash,
  keyedHashes,
  seal,
  sealingKey,
  toBase64,
  unseal,
} from '../lib/crypto.ts';
import type { Database } from '../lib/database.ts';
import { RequestError } from '../lib/request-error.ts';
import { columnFact, minus } from '../lib/expressions.ts';
import { insertSelect, upsertSelect } from '../lib/sql.ts';
import type { Settings } from '../settings.ts';

type Call = { db: Database; settings: Settings; now: number };
type Peppers = Pick<Settings, 'CODE_PEPPER'>;

export const idMacs = ({ CODE_PEPPER }: Peppers, businessUserId: string) =>
  keyedHashes(CODE_PEPPER, 'claim', businessUserId);

type NewClaim = {
  businessUserId: string;
  phone: PhoneNumber;
  sentBy: string;
  codeMac: string;
  expiresAt: number;
};

/** A claim as it is stored: of the id only a keyed hash and ciphertext. */
export async function claimRow(settings: Settings, { businessUserId, phone, ...claim }: NewClaim) {
  const [pepper] = settings.CODE_PEPPER as [string];
  const mac = await keyedHash(pepper, 'claim', businessUserId);
  const sealed = await sealNames(settings, mac, { businessUserId, phone });
  return { mac, sealed, triesLeft: settings.CODE_TRIES, provenAt: null, userId: null, ...claim };
}

export type Names = { businessUserId?: string; phone: PhoneNumber };

const contextOf = (mac: string) => `claim|v1|${mac}`;

/** Names as they are stored in the row that a keyed hash names. */
export async function sealNames({ CODE_PEPPER }: Peppers, mac: string, names: Names) {
  const key = await sealingKey(CODE_PEPPER[0]!)('claim');
  const plain = new TextEncoder().encode(JSON.stringify(names));
  return toBase64(await seal(key, contextOf(mac), plain));
}

export type SealedClaim = { mac: string; sealed: string };

/** The names of a row; null if no secret of `CODE_PEPPER` opens them. */
export async function openNames(
  { CODE_PEPPER }: Peppers,
  { mac, sealed }: SealedClaim,
): Promise<Names | null> {
  for (const pepper of CODE_PEPPER) {
    const key = await sealingKey(pepper)('claim');
    const names = await unseal(key, contextOf(mac), fromBase64(sealed)).catch(() => null);
    if (names) return JSON.parse(new TextDecoder().decode(names));
  }
  return null;
}

type Tied = { sentBy: string; businessUserId: string; phone: PhoneNumber };

/** What ties the id of a claim that is proven and has signed in: the alias, and the claim that it comes from. */
export async function tieOf(
  { settings, now }: Pick<Call, 'settings' | 'now'>,
  { sentBy, businessUserId, phone }: Tied,
) {
  const row = {
    kind: 'business' as const,
    value: businessUserId,
    userId: columnFact<string>(claims.userId),
    proof: 'claim' as const,
    at: now,
    mac: await bindAlias(settings, businessUserId, phone),
  };
  const where = and(
    eq(claims.sentBy, sentBy),
    isNotNull(claims.provenAt),
    isNotNull(claims.userId),
  )!;
  return { row, where };
}

/** Notes that number and id of a claim are one person's. */
export async function proveClaim(call: Call, claim: Tied): Promise<void> {
  const { db, now } = call;
  const isUnproven = and(eq(claims.sentBy, claim.sentBy), isNull(claims.provenAt));
  const prove = db.update(claims).set({ provenAt: now }).where(isUnproven);
  const { row, where } = await tieOf(call, claim);
  const tie = insertSelect(aliases, row, sql`from ${claims} where ${where}`);
  const { businessUserId } = claim;
  await db.batch([
    prove,
    db.run(upsertSelect(tie, aliases, 'ignore')),
    db
      .update(aliases)
      .set({ mac: row.mac })
      .where(unboundNumberOf({ businessUserId, mac: row.mac })),
    db.delete(claims).where(where),
  ]);
}

/**
 * Proves the claim of an id by the code that came back from it; it uses nothing up, and a wrong code counts for the
 * claim. Throws 400 for a wrong or old one.
 */
export async function proveByCode(call: Call, businessUserId: string, code: string): Promise<void> {
  const { db, settings, now } = call;
  const own = inArray(claims.mac, await idMacs(settings, businessUserId));
  const isOpen = and(own, gt(claims.expiresAt, now), gt(claims.triesLeft, 0));
  const [claim] = await db.select().from(claims).where(isOpen);
  const names = claim && (await openNames(settings, claim));
  if (!claim || !names) throw refusedCode();

  const { sentBy, codeMac } = claim;
  const { phone } = names;
  const macs = await keyedHashes(settings.CODE_PEPPER, 'code', phone, code);
  if (macs.includes(codeMac)) return proveClaim(call, { sentBy, businessUserId, phone });

  const triesLeft = minus(claims.triesLeft, 1);
  await db.update(claims).set({ triesLeft }).where(isOpen);
  throw refusedCode();
}

function refusedCode(): RequestError {
  const message = 'code is wrong or expired';
  return new RequestError('invalidField', { message, issues: [{ path: 'code', message }] });
}
