import { sql } from 'drizzle-orm';
import type { Database } from '../db.ts';
import type { Settings } from '../settings.ts';
import { keyedHash } from './keyed-hash.ts';
import { freeAt, recordHits, wasRecorded } from './limits.ts';

type Outcome = {
  asked: number;
  known: number;
  whatsappId: string | null;
  issued: number;
  askAt: number;
  freeAt: number;
};

/** What the rules of sign-in need of a call; `now` in unix ms. */
export type SignInCall = { db: Database; settings: Settings; address: string; now: number };

export type Issued = {
  id: string;
  /** Unix ms; 0 when no limit was met. */
  limitedUntil: number;
  /** Where to send the code; null when the number has never written. */
  whatsappId: string | null;
  /** How long the number waits for its next code. */
  nextAfterSeconds: number;
};

/** Subjects that the limits on codes count. */
export const subjects = {
  codesTo: (phone: string) => `codes:${phone}`,
  wrongTriesAt: (phone: string) => `wrong-tries:${phone}`,
  codesFrom: (address: string) => `codes-from:${address}`,
  requestsFrom: (address: string) => `requests-from:${address}`,
  triesFrom: (address: string) => `tries-from:${address}`,
};

/** Makes `code` the number's one live code where the limits and a first contact allow it: one round trip. */
export async function issueCode(
  { db, settings, address, now }: SignInCall,
  phone: string,
  code: string,
): Promise<Issued> {
  const id = crypto.randomUUID();
  const mac = await keyedHash(settings.CODE_PEPPER[0]!, 'code', phone, code);
  const requests = subjects.requestsFrom(address);
  const counted = [subjects.codesTo(phone), subjects.codesFrom(address)];
  const mayAsk = freeAt(requests, settings.LIMIT_CODE_REQUESTS_PER_ADDRESS);
  const maySend = sql`max(${freeAt(counted[0]!, settings.LIMIT_CODES_PER_NUMBER)},
    ${freeAt(counted[1]!, settings.LIMIT_CODES_PER_ADDRESS)},
    ${freeAt(subjects.wrongTriesAt(phone), settings.LIMIT_WRONG_TRIES_PER_NUMBER)})`;
  const asked = sql`${mayAsk} <= ${now}`;
  const known = sql`exists (select 1 from users where phone = ${phone} and contacted_at is not null)`;
  const issued = sql`exists (select 1 from codes where phone = ${phone} and sent_by = ${id})`;
  const results = await db.batch([
    db.run(sql`insert into codes (phone, mac, sent_by, expires_at, tries_left)
      select ${phone}, ${mac}, ${id}, ${now + settings.CODE_LIFETIME_SECONDS * 1000}, ${settings.CODE_TRIES}
      where ${asked} and ${known} and ${maySend} <= ${now}
      on conflict (phone) do update set mac = excluded.mac, sent_by = excluded.sent_by,
        expires_at = excluded.expires_at, tries_left = excluded.tries_left, tried_by = null, won_by = null`),
    db.run(
      recordHits(id, now, [
        [requests, asked],
        [counted[0]!, issued],
        [counted[1]!, issued],
      ]),
    ),
    db.all<Outcome>(sql`select ${wasRecorded(requests, id, now)} as asked, ${known} as known, ${issued} as issued, ${mayAsk} as askAt,
      ${maySend} as freeAt, (select whatsapp_id from users where phone = ${phone}) as whatsappId`),
  ]);
  const outcome = (results.at(-1) as Outcome[])[0]!;
  return { id, nextAfterSeconds: Math.ceil((outcome.freeAt - now) / 1000), ...verdict(outcome) };
}

/** Gives back a code that was certainly not sent, and what it counted for. */
export async function withdrawCode({ db, address, now }: SignInCall, phone: string, id: string): Promise<void> {
  const counted = sql`(${subjects.codesTo(phone)}, ${subjects.codesFrom(address)})`;
  await db.batch([
    db.run(sql`delete from codes where phone = ${phone} and sent_by = ${id}`),
    db.run(sql`delete from hits where subject in ${counted} and at = ${now} and by = ${id}`),
  ]);
}

function verdict(outcome: Outcome): Pick<Issued, 'limitedUntil' | 'whatsappId'> {
  if (!outcome.asked) return { limitedUntil: outcome.askAt, whatsappId: null };
  if (!outcome.known) return { limitedUntil: 0, whatsappId: null };
  return { limitedUntil: outcome.issued ? 0 : outcome.freeAt, whatsappId: outcome.whatsappId };
}
