import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { type PhoneNumber, phoneSubjects } from '../../worker/accounts/phone.ts';
import { settingsOf } from '../../worker/settings.ts';
import { call, randomAddress, parallel } from './support/api.ts';
import { advanceClock, minute, second } from './support/clock.ts';
import { database } from './support/database.ts';
import { costOf } from './support/log.ts';
import { newContact, newPhone, otherThan, requestOtp, tryTwentyTimes, verifyOtp } from './support/person.ts';
import { newestCode } from './support/sandbox.ts';

type Requested = { phone: string; otp: string; challenge: string };

const answer = ({ phone, challenge }: Requested, otp: string, address = randomAddress()) =>
  call('POST', '/api/auth/verify-otp', { body: { phone, otp, challenge }, address });
const statusesOf = (answers: { status: number }[]) => answers.map(({ status }) => status);
const invalid = { success: false, code: 'invalid_code', message: 'Invalid code. Please try again.' };

/** A code that was sent to a number, with the challenge of its caller. */
async function requested(phone: string): Promise<Requested> {
  const { body } = await requestOtp(phone);
  return { phone, otp: await newestCode(phone), challenge: body.challenge };
}

describe('a challenge', () => {
  it('is returned with each code, opaque and short, and never for an unknown number', async () => {
    const { phone } = await newContact();
    const first = await requested(phone);
    expect(first.challenge).toMatch(/^[\x21-\x7e]{20,200}$/);
    expect(first.challenge).not.toContain(phone.slice(1));
    advanceClock(31 * second);
    expect((await requested(phone)).challenge).not.toBe(first.challenge);
    expect((await requestOtp(newPhone())).body).not.toHaveProperty('challenge');
    const { rows } = await database.execute({ sql: 'select * from challenges where phone = ?', args: [phone] });
    expect(rows).toHaveLength(2);
    expect(JSON.stringify(rows)).not.toContain(first.challenge);
  });

  it('keeps its code through strangers’ wrong tries and newer codes', async () => {
    const { phone } = await newContact();
    const owner = await requested(phone);
    await parallel(5, () => verifyOtp(phone, otherThan(owner.otp)));
    expect((await verifyOtp(phone, owner.otp)).status).toBe(401);
    advanceClock(31 * second);
    const stranger = await requested(phone);
    await parallel(5, () => answer(stranger, otherThan(stranger.otp)));
    expect((await answer(owner, owner.otp)).status).toBe(200);
  });

  it('signs in after the number has had all its wrong tries of a day', async () => {
    advanceClock(0);
    const contact = await newContact();
    const owner = await requested(contact.phone);
    await parallel(5, () => verifyOtp(contact.phone, otherThan(owner.otp)));
    advanceClock(31 * second);
    const { phone, address } = contact;
    for (let round = 0; round < 3; round += 1) {
      const later = await requested(phone);
      await parallel(5, () => verifyOtp(phone, otherThan(later.otp), address));
      advanceClock(31 * second);
    }
    expect((await requestOtp(phone)).status).toBe(429);
    expect((await answer(owner, owner.otp)).status).toBe(200);
  });

  it('lasts five minutes, whatever happens', async () => {
    const owner = await requested((await newContact()).phone);
    advanceClock(5 * minute + second);
    expect(await answer(owner, owner.otp)).toMatchObject({ status: 401, body: invalid });
  });

  it('allows five tries of its own, which do not count for the number', async () => {
    advanceClock(0);
    const { phone } = await newContact();
    for (let round = 0; round < 5; round += 1) {
      const owner = await requested(phone);
      const wrong = await parallel(20, () => answer(owner, otherThan(owner.otp)));
      expect(new Set(wrong.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
      expect(await answer(owner, owner.otp)).toMatchObject({ status: 401, body: invalid });
      advanceClock(31 * second);
    }
    const { wrongTriesAt } = await phoneSubjects(settingsOf(env)!, phone as PhoneNumber);
    const wrongTries = { sql: 'select at from rate_limit_events where subject = ?', args: [wrongTriesAt[0]!] };
    expect((await database.execute(wrongTries)).rows).toEqual([]);
  });

  it('is compared with its own code alone', async () => {
    const { phone } = await newContact();
    const older = await requested(phone);
    advanceClock(31 * second);
    const newer = await requested(phone);
    if (older.otp !== newer.otp) expect((await answer(older, newer.otp)).status).toBe(401);
    expect((await answer(older, older.otp)).status).toBe(200);
  });

  it('ends every code of the number when it signs in, as a code alone does', async () => {
    const { phone } = await newContact();
    const older = await requested(phone);
    advanceClock(31 * second);
    const newer = await requested(phone);
    expect((await answer(older, older.otp)).status).toBe(200);
    expect((await answer(newer, newer.otp)).status).toBe(401);
    expect((await verifyOtp(phone, newer.otp)).status).toBe(401);
    advanceClock(62 * second);
    const last = await requested(phone);
    expect((await verifyOtp(phone, last.otp)).status).toBe(200);
    expect((await answer(last, last.otp)).status).toBe(401);
  });

  it('signs in once for twenty parallel right tries, with one database request each', async () => {
    const owner = await requested((await newContact()).phone);
    const answers = await parallel(20, () => answer(owner, owner.otp));
    expect(statusesOf(answers).toSorted((a, b) => a - b)).toEqual([200, ...Array(19).fill(401)]);
    expect(new Set(answers.map(costOf))).toEqual(new Set([1]));
  });

  it('works once when the code alone is tried at the same time', async () => {
    const owner = await requested((await newContact()).phone);
    const answers = await parallel(20, (index) =>
      index % 2 ? answer(owner, owner.otp) : verifyOtp(owner.phone, owner.otp),
    );
    expect(statusesOf(answers).filter((status) => status === 200)).toHaveLength(1);
  });

  it('that is forged, another number’s, too long or no text opens nothing', async () => {
    const [one, other] = [await requested((await newContact()).phone), await requested((await newContact()).phone)];
    for (const challenge of [other.challenge, `${one.challenge}x`, one.challenge.slice(1), 'forged', '%', "' or 1=1"])
      expect(await answer({ ...one, challenge }, one.otp)).toMatchObject({ status: 401, body: invalid });
    for (const challenge of ['', 'x'.repeat(201), 7, {}, null]) {
      const body = { phone: one.phone, otp: one.otp, challenge };
      const { status, body: refused } = await call('POST', '/api/auth/verify-otp', { body });
      expect([status, refused.issues[0].path], JSON.stringify(challenge)).toEqual([400, 'challenge']);
    }
    const megabyte = await answer({ ...one, challenge: 'x'.repeat(2 ** 20) }, one.otp);
    expect(megabyte).toMatchObject({ status: 413, body: { code: 'body_too_large' } });
    expect((await answer(one, one.otp)).status).toBe(200);
  });

  it('does not protect a caller who sends none', async () => {
    const contact = await newContact();
    await tryTwentyTimes(contact);
    expect((await requestOtp(contact.phone)).status).toBe(429);
  });
});
