import { and, eq, not } from 'drizzle-orm';
import { aliases } from '#db/schema';
import { isSame } from '../lib/expressions.ts';
import { excluded } from '../lib/sql.ts';
import type { On, Transaction } from '../lib/transaction.ts';
import { isOfSql, userOfSql, type Proof } from './aliases.ts';
import type { PhoneNumber } from './phone.ts';

type Names = {
  phone: PhoneNumber;
  proof: Proof;
  whatsapp: { id: string | null; proof: Proof };
};

const isReported = eq(excluded(aliases.proof), 'contact');
const newer = {
  proof: excluded(aliases.proof),
  at: excluded(aliases.at),
};

export function nameUser<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: On<Outcome>,
  userId: string,
  { phone, proof, whatsapp, at }: Names & { at: number },
): void {
  const { kind, value } = aliases;
  const ofToken = and(isReported, eq(aliases.proof, 'token'));

  const row = {
    kind: 'phone',
    value: phone,
    userId,
    proof,
    at,
  } as const;
  tx.insert(on, aliases, row, {
    upsert: {
      target: [kind, value],
      set: newer,
      where: ofToken,
    },
  });
  if (whatsapp.id === null) return;

  const spelling = {
    kind: 'whatsapp',
    value: whatsapp.id,
    userId: userOfSql('phone', phone),
    proof: whatsapp.proof,
    at,
  } as const;

  const isTyped = eq(aliases.proof, 'typed');
  const isTheirs = eq(aliases.userId, excluded(aliases.userId));

  tx.insert(on, aliases, spelling, {
    upsert: [
      {
        target: [kind, value],
        set: newer,
        where: and(isReported, isTyped, isTheirs),
      },
      {
        target: [aliases.userId, kind],
        set: { value: excluded(value), ...newer },
        where: isReported,
      },
    ],
  });
}

type Renaming = {
  userId: string;
  names: Names & { business: BoundId | null };
  now: number;
};

type BoundId = { id: string; bindingMac: string };

export function renameUser<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: On<Outcome>,
  { userId, names, now }: Renaming,
): void {
  const { phone, proof, whatsapp } = names;
  const brought = proof === 'support' ? null : names.business;
  const isAnother = not(isSame(aliases.value, brought?.id ?? null));
  const bindingMac = brought?.bindingMac ?? null;
  const spelling = {
    kind: 'whatsapp',
    value: whatsapp.id!,
    userId,
    proof: whatsapp.proof,
    at: now,
  } as const;

  tx.delete(on, aliases, and(isOfSql('business', userId), isAnother));
  tx.update(on, aliases, { proof: 'earlier-number', bindingMac }, isOfSql('business', userId));
  tx.update(
    on,
    aliases,
    {
      value: phone,
      proof,
      at: now,
      bindingMac,
    },
    isOfSql('phone', userId),
  );
  tx.delete(on, aliases, isOfSql('whatsapp', userId));
  tx.insert(on, aliases, spelling, { upsert: 'ignore' });
}
