import { describe, expect, it } from 'vitest';
import { botCall, parallel, tally, invalidField } from './support/api.ts';
import { advanceClock, minute, second, until } from './support/clock.ts';
import {
  claimNumber,
  codeState,
  newCode,
  otherThan,
  redeem,
  reportStatus,
  requestOtp,
  verifyOtp,
} from './support/codes.ts';
import { linkedTo, newBusinessUserId, newPhone } from './support/contacts.ts';
import { exportOf, getMe } from './support/person.ts';
import { intercept } from './support/requests.ts';
import { newestCode, run } from './support/sandbox.ts';
import { allowedBy, ask, claim, sendBack } from './support/claims.ts';

describe('an id is tied to the number', () => {
  const wrong = invalidField('code');
  const statusOf = (businessUserId: string, status = 'delivered') => ({
    status,
    recipient_user_id: businessUserId,
  });

  it.each(['before', 'after'])(
    'if the status of the code names it %s the code has signed in',
    async (when) => {
      const { phone, businessUserId, otp } = await claimNumber();
      const prove = () => reportStatus(phone, statusOf(businessUserId));
      if (when === 'before') await prove();
      expect(await linkedTo(phone)).toEqual([]);
      await verifyOtp(phone, otp);
      if (when === 'after') await prove();
      expect(await linkedTo(phone)).toEqual([[businessUserId, 'claim']]);
      expect(await allowedBy({ businessUserId })).toBe(true);
    },
  );

  it.each(['before', 'after'])(
    'if its code comes back from it %s the code has signed in, and only then',
    async (when) => {
      const { phone, businessUserId, otp } = await claimNumber();
      const prove = () => sendBack(businessUserId, otp);
      if (when === 'before')
        expect((await prove()).body).toEqual({
          success: true,
          known: true,
        });
      const { body } = await verifyOtp(phone, otp);
      if (when === 'after')
        expect((await prove()).body).toEqual({
          success: true,
          known: true,
        });
      expect(await linkedTo(phone)).toEqual([[businessUserId, 'claim']]);
      expect((await getMe(body.token)).status).toBe(200);
    },
  );

  it('not by a greeting that was sent for somebody else, whose id then counts for nobody', async () => {
    const [stranger, owner] = [newPhone(), newBusinessUserId()];
    const { linkCode } = await ask(stranger);
    await claim(linkCode, owner);
    const otp = await newestCode(stranger);
    const { body } = await redeem({
      phone: stranger,
      otp,
      challenge: linkCode,
    });
    await reportStatus(stranger, statusOf(newBusinessUserId()));
    expect((await botCall('/api/bot/usage', { businessUserId: owner })).body.allowed).toBe(false);
    expect(await linkedTo(stranger)).toEqual([]);
    expect((await exportOf(body.token)).text).not.toContain(owner);
    // The owner's own claim takes the place of the one that was never proven.
    const own = await ask();
    await claim(own.linkCode, owner);
    const code = await newestCode(own.phone);
    await redeem({
      phone: own.phone,
      otp: code,
      challenge: own.linkCode,
    });
    await reportStatus(own.phone, statusOf(owner));
    expect(await linkedTo(own.phone)).toEqual([[owner, 'claim']]);
  });

  it('not by a wrong code, another id, after five tries or five minutes', async () => {
    const mine = await claimNumber();
    const other = await claimNumber();
    const code = mine.otp === other.otp ? otherThan(mine.otp) : mine.otp;
    expect(await sendBack(other.businessUserId, code)).toMatchObject(wrong);
    expect(await sendBack(newBusinessUserId(), mine.otp)).toMatchObject(wrong);
    for (let count = 0; count < 5; count += 1)
      expect(await sendBack(mine.businessUserId, otherThan(mine.otp))).toMatchObject(wrong);
    expect(await sendBack(mine.businessUserId, mine.otp)).toMatchObject(wrong);
    await verifyOtp(mine.phone, mine.otp);
    expect(await linkedTo(mine.phone)).toEqual([]);
    advanceClock(5 * minute + second);
    expect(await sendBack(other.businessUserId, other.otp)).toMatchObject(wrong);
  });

  it('not by a guess that 50 wrong ones overtake on its way to the database', async () => {
    const { phone, businessUserId, otp } = await claimNumber();
    const state = { isHeld: false, isReleased: false };
    intercept(async (request, text, send) => {
      const isProof = text.includes('proven_at') && text.includes(businessUserId);
      if (state.isHeld || !isProof) return send(request);
      state.isHeld = true;
      await until('the release', () => state.isReleased);
      return send(new Request(request, { signal: null }));
    });
    const right = sendBack(businessUserId, otp);
    await until('the guess', () => state.isHeld);
    const others = await parallel(50, () => sendBack(businessUserId, otherThan(otp)));
    expect(tally(others)).toEqual({ 400: 50 });
    const left =
      'select tries_left from claims where user_id is null and sent_by in (select sent_by from link_codes where phone = ?)';
    expect((await run(left, phone)).rows).toMatchObject([{ tries_left: 0 }]);
    state.isReleased = true;
    expect(await right).toMatchObject(wrong);
    await verifyOtp(phone, otp);
    expect(await linkedTo(phone)).toEqual([]);
  });

  it('not by a wrong code, which counts once, however often its call is repeated', async () => {
    const { phone, businessUserId, otp } = await claimNumber();
    const id = crypto.randomUUID();
    const body = { businessUserId, code: otherThan(otp) };
    const again = () => botCall('/api/bot/contacts', body, id);
    for (const response of await parallel(10, again)) expect(response).toMatchObject(wrong);
    expect((await sendBack(businessUserId, otp)).status).toBe(200);
    await verifyOtp(phone, otp);
    expect(await linkedTo(phone)).toEqual([[businessUserId, 'claim']]);
  });

  it('by a right code that ends its claim, with one response for all repetitions', async () => {
    const { phone, businessUserId, otp } = await claimNumber();
    await verifyOtp(phone, otp);
    const id = crypto.randomUUID();
    const again = () => botCall('/api/bot/contacts', { businessUserId, code: otp }, id);
    expect(tally(await parallel(20, again))).toEqual({ 200: 20 });
    expect(await linkedTo(phone)).toEqual([[businessUserId, 'claim']]);
  });

  it('not by a status of another message, or one that says that nothing arrived', async () => {
    const { phone, businessUserId, otp } = await claimNumber();
    await reportStatus(phone, {
      ...statusOf(businessUserId),
      id: 'wamid.another',
    });
    await verifyOtp(phone, otp);
    expect(await linkedTo(phone)).toEqual([]);
    const failed = await claimNumber();
    await reportStatus(failed.phone, statusOf(failed.businessUserId, 'failed'));
    expect((await verifyOtp(failed.phone, failed.otp)).status).toBe(401);
    expect(await linkedTo(failed.phone)).toEqual([]);
  });
});

describe('a code that WhatsApp could not deliver', () => {
  it('is dead at once, counts against no limit, and its page learns it', async () => {
    advanceClock(0);
    const code = await newCode();
    expect(await codeState(code)).toBe('sent');
    expect((await requestOtp(code.phone)).status).toBe(429);
    for (const _ of ['once', 'again'])
      expect(await reportStatus(code.phone, { status: 'failed' })).toBe(200);
    expect(await codeState(code)).toBe('undelivered');
    expect((await redeem(code)).body.code).toBe('code_spent');
    expect((await verifyOtp(code.phone, code.otp)).status).toBe(401);
    expect((await requestOtp(code.phone)).status).toBe(200);
    expect(
      await codeState({
        ...code,
        challenge: 'guessed',
      }),
    ).toBe('expired');
  });

  it('is not one that was delivered, has signed in, or is of another number', async () => {
    const code = await newCode();
    await reportStatus(code.phone, { status: 'read' });
    await reportStatus(code.phone, { status: 'failed' });
    expect((await redeem(code)).status).toBe(200);
    await reportStatus(code.phone, { status: 'failed' });
    expect(await codeState(code)).toBe('expired');
  });

  it('is not one whose tries are used up: its page learns that it is over', async () => {
    const code = await newCode();
    const wrongTry = () => redeem({ ...code, otp: otherThan(code.otp) });
    for (let tries = 1; tries < 5; tries += 1) await wrongTry();
    expect(await codeState(code)).toBe('sent');
    await wrongTry();
    expect((await redeem(code)).body.code).toBe('code_spent');
    expect(await codeState(code)).toBe('expired');
    await reportStatus(code.phone, { status: 'failed' });
    expect(await codeState(code)).toBe('undelivered');
  });

  it('is told by a status that overtakes the response, too', async () => {
    const code = await newCode();
    const { rows } = await run('select sent_by from codes where phone = ?', code.phone);
    await run('delete from code_messages where sent_by = ?', rows[0]!['sent_by'] as string);
    const early = {
      status: 'failed',
      biz_opaque_callback_data: rows[0]!['sent_by'],
    };
    await reportStatus(code.phone, early);
    const { rows: kept } = await run("select state from code_messages where state = 'failed'");
    expect(kept.length).toBeGreaterThan(0);
  });
});
