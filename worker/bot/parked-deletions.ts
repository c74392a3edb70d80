import { and, eq, isNotNull, isNull } from 'drizzle-orm';
import { outbox, type PhoneNumber } from '#db/schema';
import { keyedHash } from '../lib/crypto.ts';
import type { Database } from '../lib/database.ts';
import { inJson } from '../lib/expressions.ts';
import { openJson, sealJson } from '../lib/sealed-json.ts';
import type { Settings } from '../settings.ts';

type ParkedRow = {
  seq: number;
  phone: PhoneNumber;
  body: string;
};

const sealedAtOnce = 100;
const sealedBody = inJson<string>(outbox.body, '$.sealed');
const isDeletion = and(
  isNotNull(outbox.parkedAt),
  eq(inJson(outbox.body, '$.type'), 'user.deleted'),
)!;

export const isSealedSql = and(isDeletion, isNotNull(sealedBody))!;

export async function sealParkedDeletions(db: Database, { CODE_PEPPER }: Settings): Promise<void> {
  const [pepper] = CODE_PEPPER as [string];
  const rows = await db
    .select({
      seq: outbox.seq,
      phone: outbox.phone,
      body: outbox.body,
    })
    .from(outbox)
    .where(and(isDeletion, isNull(sealedBody)))
    .limit(sealedAtOnce);

  for (const row of rows) {
    const { seq, body } = row;
    await db
      .update(outbox)
      .set({ userId: null, ...(await sealedOf(pepper, row)) })
      .where(and(eq(outbox.seq, seq), eq(outbox.body, body), isDeletion));
  }
}

async function sealedOf(pepper: string, { seq, phone, body }: ParkedRow) {
  const sealed = await sealJson([pepper], sealingOf(seq), { phone, body });
  const hash = (await keyedHash(pepper, 'log', phone)) as PhoneNumber;
  return {
    phone: hash,
    body: JSON.stringify({ type: 'user.deleted', sealed }),
  };
}

/** Throws if no secret opens it. */
export async function openParked({ CODE_PEPPER }: Settings, row: ParkedRow): Promise<ParkedRow> {
  const { sealed }: { sealed?: string } = JSON.parse(row.body);
  if (sealed === undefined) return row;

  type Parked = Pick<ParkedRow, 'phone' | 'body'>;
  const opened = await openJson<Parked>(CODE_PEPPER, sealingOf(row.seq), sealed);
  if (opened) return { ...row, ...opened };
  throw new Error(
    `No secret of CODE_PEPPER opens the event ${row.seq}. Put the earlier one back behind the new one.`,
  );
}

const sealingOf = (seq: number) => ({
  purpose: 'parked-event' as const,
  context: `parked|v1|${seq}`,
});
