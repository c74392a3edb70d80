import { describe, expect, it } from 'vitest';
import { call, parallel, tally } from './support/api.ts';
import { advanceClock, minute, second } from './support/clock.ts';
import { database } from './support/database.ts';
import { costOf } from './support/log.ts';
import {
  type Code,
  newContact,
  newPhone,
  otherThan,
  redeem,
  requestCode,
  requestOtp,
  verifyOtp,
} from './support/person.ts';

const invalid = {
  status: 401,
  body: { success: false, code: 'invalid_code', message: 'Invalid code. Please try again.' },
};
/** Two codes of a number, the older one first. */
async function twoCodes(phone: string): Promise<[Code, Code]> {
  const older = await requestCode(phone);
  advanceClock(31 * second);
  return [older, await requestCode(phone)];
}

describe('a challenge', () => {
  it('is returned with each code, opaque and short, and never for an unknown number', async () => {
    const { phone } = await newContact();
    const [first, next] = await twoCodes(phone);
    expect(first.challenge).toMatch(/^[\x21-\x7e]{20,200}$/);
    expect(first.challenge).not.toContain(phone.slice(1));
    expect(next.challenge).not.toBe(first.challenge);
    expect((await requestOtp(newPhone())).body).not.toHaveProperty('challenge');
    const { rows } = await database.execute('select * from challenges where phone = ?', [phone]);
    expect(rows).toHaveLength(2);
    expect(JSON.stringify(rows)).not.toContain(first.challenge);
  });

  it('keeps its code through newer codes and all wrong tries that strangers have in a day', async () => {
    advanceClock(0);
    const { phone, address } = await newContact();
    const owner = await requestCode(phone);
    await parallel(5, () => verifyOtp(phone, otherThan(owner.otp)));
    expect((await verifyOtp(phone, owner.otp)).status).toBe(401);
    for (let round = 0; round < 3; round += 1) {
      advanceClock(31 * second);
      const stranger = await requestCode(phone);
      // A challenge has five tries of its own, which do not count for the number: it gets this code.
      expect(stranger.challenge).toBeDefined();
      const wrong = await parallel(20, () => redeem({ ...stranger, otp: otherThan(stranger.otp) }));
      for (const answer of [...wrong, await redeem(stranger)]) expect(answer).toMatchObject(invalid);
      await parallel(5, () => verifyOtp(phone, otherThan(stranger.otp), address));
    }
    advanceClock(31 * second);
    expect((await requestOtp(phone)).status).toBe(429);
    expect((await redeem(owner)).status).toBe(200);
  });

  it('lasts five minutes, whatever happens', async () => {
    const owner = await requestCode((await newContact()).phone);
    advanceClock(5 * minute + second);
    expect(await redeem(owner)).toMatchObject(invalid);
  });

  it('is compared with its own code alone, and ends every code of the number when it signs in, as a code alone does', async () => {
    const { phone } = await newContact();
    const [older, newer] = await twoCodes(phone);
    // Two codes are equal once in a million times.
    if (older.otp !== newer.otp) expect((await redeem({ ...older, otp: newer.otp })).status).toBe(401);
    expect((await redeem(older)).status).toBe(200);
    expect((await redeem(newer)).status).toBe(401);
    expect((await verifyOtp(phone, newer.otp)).status).toBe(401);
    advanceClock(62 * second);
    const last = await requestCode(phone);
    expect((await verifyOtp(phone, last.otp)).status).toBe(200);
    expect((await redeem(last)).status).toBe(401);
  });

  it('signs in once for twenty right tries at once, with one database request each, also beside the code alone', async () => {
    for (const every of [1, 2]) {
      const owner = await requestCode((await newContact()).phone);
      const answers = await parallel(20, (index) =>
        index % every ? verifyOtp(owner.phone, owner.otp) : redeem(owner),
      );
      expect(tally(answers)).toEqual({ 200: 1, 401: 19 });
      expect(new Set(answers.map(costOf))).toEqual(new Set([1]));
    }
  });

  it('that is forged, another number’s, too long or no text opens nothing', async () => {
    const [one, other] = [
      await requestCode((await newContact()).phone),
      await requestCode((await newContact()).phone),
    ] as const;
    const forged = [other.challenge, `${one.challenge}x`, one.challenge!.slice(1), 'forged', '%', "' or 1=1"];
    for (const challenge of forged) expect(await redeem({ ...one, challenge })).toMatchObject(invalid);
    for (const challenge of ['', 'x'.repeat(201), 7, {}, null]) {
      const { status, body } = await call('POST', '/api/auth/verify-otp', { body: { ...one, challenge } });
      expect([status, body.issues[0].path], JSON.stringify(challenge)).toEqual([400, 'challenge']);
    }
    expect((await redeem(one)).status).toBe(200);
  });
});
