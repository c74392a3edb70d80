import { describe, expect, it, vi } from 'vitest';
import {
  botCall,
  call,
  newAddress,
  parallel,
  runCron,
  tally,
  vars,
  invalidField,
} from './support/api.ts';
import { advanceClock, day, minute, second, until } from './support/clock.ts';
import {
  claimNumber,
  otherThan,
  redeem,
  reportStatus,
  requestOtp,
  verifyOtp,
} from './support/codes.ts';
import { linkedTo, newBusinessUserId, newContact, newPhone } from './support/contacts.ts';
import { externalSession, getMe, userOf } from './support/person.ts';
import { costOf, expectUnavailable, intercept, watchDatabase } from './support/requests.ts';
import { during, newestCode, run, sandbox, totalsOfToday } from './support/sandbox.ts';
import { allowedBy, ask, claim, sendBack } from './support/claims.ts';

const stateOf = async (body: { phone: string; linkCode: string }) =>
  (await call('POST', '/api/auth/contact-state', { body })).body.state;

const codesOn = async (phone: string) =>
  (await sandbox.messages(phone)).filter(({ code }) => code).length;

const refused = invalidField('linkCode');

describe('a claim', () => {
  it('sends the code of the number for its link code; the code signs in once and makes a user with the id', async () => {
    // A day on which no other test counts.
    advanceClock(1000 * day);
    const [phone, businessUserId] = [newPhone(), newBusinessUserId()];
    const { body } = await requestOtp(phone);
    const unknown = {
      success: false,
      requiresInitialContact: true,
      message: expect.any(String),
    };
    expect(body).toEqual({
      ...unknown,
      linkCode: expect.stringMatching(/^[2-9A-HJKMNP-Z]{8}$/),
    });
    expect(await sandbox.messages(phone)).toEqual([]);
    const asked = { phone, linkCode: body.linkCode };
    expect(await stateOf(asked)).toBe('waiting');
    const response = await claim(asked.linkCode, businessUserId);
    expect(response.body).toEqual({ success: true, known: true });
    expect(await stateOf(asked)).toBe('code_sent');
    expect(await allowedBy({ phone })).toBe(false);
    expect((await requestOtp(phone)).body.requiresInitialContact).toBe(true);
    const otp = await newestCode(phone);
    const answers = await parallel(20, () => verifyOtp(phone, otp));
    expect(tally(answers)).toEqual({ 200: 1, 401: 19 });
    const signedIn = answers.find(({ status }) => status === 200)!;
    expect(signedIn.body).toMatchObject({
      success: true,
      status: 'approved',
    });
    expect([costOf(response), costOf(signedIn)]).toEqual([2, 2]);
    expect(await linkedTo(phone)).toEqual([]);
    await reportStatus(phone, {
      status: 'delivered',
      recipient_user_id: businessUserId,
    });
    expect(await linkedTo(phone)).toEqual([[businessUserId, 'claim']]);
    expect((await botCall('/api/bot/usage', { businessUserId })).body).toMatchObject({
      allowed: true,
      used: 1,
    });
    expect((await getMe(signedIn.body.token)).body.profile.phoneNumber).toBe(phone);
    expect(await totalsOfToday()).toEqual([
      {
        kind: 'claim',
        detail: '',
        n: 1,
      },
    ]);
    advanceClock(31 * second);
    const known = {
      success: true,
      requiresInitialContact: false,
      challenge: expect.any(String),
    };
    expect((await requestOtp(phone)).body).toEqual(known);
  });

  it('gives the code tries of its own by the link code, and waits for approval where users do', async () => {
    const { phone, linkCode, otp } = await claimNumber();
    await parallel(5, () => verifyOtp(phone, otherThan(otp)));
    expect((await verifyOtp(phone, otp)).status).toBe(401);
    const settings = { APPROVAL: 'manual' };
    expect((await redeem({ phone, otp, challenge: linkCode }, { settings })).body.status).toBe(
      'pending',
    );
  });

  it('lets its code sign in for as long as codes last, also when the link code has expired meanwhile', async () => {
    const { phone, linkCode } = await ask();
    advanceClock(29 * minute);
    await claim(linkCode);
    advanceClock(2 * minute);
    await runCron();
    expect(await stateOf({ phone, linkCode })).toBe('code_sent');
    expect(
      (
        await redeem({
          phone,
          otp: await newestCode(phone),
          challenge: linkCode,
        })
      ).status,
    ).toBe(200);
  });

  it('opens nothing for another number, by its code or by its link code', async () => {
    const [mine, other] = [await claimNumber(), await claimNumber()];
    const { phone } = other;
    const otp = mine.otp === other.otp ? otherThan(mine.otp) : mine.otp;
    for (const challenge of [undefined, mine.linkCode, other.linkCode])
      expect(
        (
          await redeem({
            phone,
            otp,
            challenge,
          })
        ).body.code,
      ).toBe('invalid_code');
    expect(
      await stateOf({
        phone,
        linkCode: mine.linkCode,
      }),
    ).toBe('expired');
    expect(await linkedTo(phone)).toEqual([]);
    expect((await verifyOtp(mine.phone, mine.otp)).status).toBe(200);
  });

  it('takes a link code in small letters, also of the former pepper, and sends the code in the page’s language', async () => {
    const phone = newPhone();
    const headers = { 'accept-language': 'es' };
    const { linkCode } = (
      await call('POST', '/api/auth/request-otp', {
        body: { phone },
        headers,
      })
    ).body;
    const settings = { CODE_PEPPER: `${'n'.repeat(43)} ${vars.CODE_PEPPER}` };
    expect((await claim(linkCode.toLowerCase(), undefined, undefined, settings)).status).toBe(200);
    expect(JSON.stringify(await sandbox.messages(phone))).toMatch(/código/);
    const code = {
      phone,
      otp: await newestCode(phone),
      challenge: linkCode,
    };
    expect((await redeem(code, { settings })).status).toBe(200);
  });

  it('is none by a known id, and refuses a link code that nobody was shown or whose number has written', async () => {
    for (const linkCode of ['ABCDEFGH', 'O01IL0O1', '', 'A'.repeat(65)])
      expect(await claim(linkCode), linkCode).toMatchObject(refused);
    const [{ phone }, businessUserId, asked] = [
      await newContact(),
      newBusinessUserId(),
      await ask(),
    ];
    await botCall('/api/bot/contacts', { phone, businessUserId });
    expect((await claim(asked.linkCode, businessUserId)).status).toBe(200);
    expect(await stateOf(asked)).toBe('waiting');
    await newContact(asked.phone);
    expect(await claim(asked.linkCode)).toMatchObject(refused);
    expect(await codesOn(asked.phone)).toBe(0);
  });

  it('is applied once by twenty ids at once, and for twenty posts of one call', async () => {
    const [one, other] = [await ask(), await ask()];
    const results = await parallel(20, () => claim(one.linkCode));
    expect(tally(results)).toEqual({ 200: 1, 400: 19 });
    expect(results.find(({ status }) => status === 400)).toMatchObject(refused);
    const [businessUserId, id] = [newBusinessUserId(), crypto.randomUUID()];
    expect(tally(await parallel(20, () => claim(other.linkCode, businessUserId, id)))).toEqual({
      200: 20,
    });
    expect([await codesOn(one.phone), await codesOn(other.phone)]).toEqual([1, 1]);
  });

  it('is allowed three times a day for an id, and for another id still', async () => {
    const businessUserId = newBusinessUserId();
    const asked = await parallel(4, () => ask());
    const results = [];
    for (const { linkCode } of asked) results.push(await claim(linkCode, businessUserId));
    expect(results.map(({ body }) => body.code)).toEqual([
      undefined,
      undefined,
      undefined,
      'rate_limited',
    ]);
    expect(Number(results[3]!.headers.get('retry-after'))).toBeGreaterThan(23 * 3600);
    expect((await claim(asked[3]!.linkCode)).status).toBe(200);
    advanceClock(day + second);
    expect((await claim((await ask()).linkCode, businessUserId)).status).toBe(200);
  });

  const faults = [{ status: 503 }, { drop: true as const }];
  it.each(faults)(
    'responds 503 while WhatsApp has the fault %j, and the code stays good',
    async (fault) => {
      const { phone, linkCode } = await ask();
      const [businessUserId, id] = [newBusinessUserId(), crypto.randomUUID()];
      await sandbox.faults({
        whatsapp: {
          ...fault,
          match: phone.slice(1),
        },
      });
      for (let round = 0; round < 4; round += 1)
        expect((await claim(linkCode, businessUserId, id)).body).toMatchObject({
          code: 'unavailable',
        });
      await sandbox.faults({ whatsapp: null });
      expect((await claim(linkCode, businessUserId, id)).status).toBe(200);
      expect((await verifyOtp(phone, await newestCode(phone))).status).toBe(200);
    },
  );

  it('responds 503 to the same call, too, that has waited for a code which WhatsApp refuses', async () => {
    const { phone, linkCode } = await ask();
    const [businessUserId, id] = [newBusinessUserId(), crypto.randomUUID()];
    const again = () => claim(linkCode, businessUserId, id);
    const match = phone.slice(1);
    await sandbox.faults({
      whatsapp: {
        status: 503,
        match,
        hold: true,
      },
    });
    const first = again();
    await until('the code is being sent', () => sandbox.heldBy(match));
    const { rows } = await run('select sent_by from link_codes where phone = ?', phone);
    const ofFirst = watchDatabase(rows[0]!['sent_by'] as string);
    const second = again();
    await until('the second call waits', () => ofFirst.length >= 2);
    await sandbox.faults({ whatsapp: { status: 503, match } });
    for (const response of await Promise.all([first, second])) expectUnavailable(response);
    await sandbox.faults({ whatsapp: null });
    expect((await again()).status).toBe(200);
    expect(await codesOn(phone)).toBe(1);
  });

  describe('whose response is lost', () => {
    const lost = (phone: string) =>
      ({
        libsql: {
          cut: true,
          match: phone,
        },
      }) as const;

    it('by the database sends its code by the same call again, once, and counts it once', async () => {
      advanceClock(0);
      const { phone, linkCode } = await ask();
      const [businessUserId, id] = [newBusinessUserId(), crypto.randomUUID()];
      const again = () => claim(linkCode, businessUserId, id);
      expect((await during(lost(phone), again)).status).toBe(503);
      expect(await codesOn(phone)).toBe(0);
      expect(tally(await parallel(20, again))).toEqual({ 200: 20 });
      expect(await codesOn(phone)).toBe(1);
      const code = {
        phone,
        otp: await newestCode(phone),
        challenge: linkCode,
      };
      expect((await redeem(code)).status).toBe(200);
      expect((await again()).status).toBe(200);
      expect(await codesOn(phone)).toBe(1);
    });

    /** A claim whose Worker was ended before it noted that the code was sent. */
    async function claimedUnnoted() {
      const { phone, linkCode } = await ask();
      const [businessUserId, id] = [newBusinessUserId(), crypto.randomUUID()];
      const again = () => claim(linkCode, businessUserId, id);
      await again();
      const sentBy = '(select sent_by from link_codes where phone = ?)';
      const stored = `select 1 from bot_calls where outcome = 'codeSent' and by = ${sentBy}`;
      await until('the code is noted as sent', async () => (await run(stored, phone)).rows.length);
      await run(`update bot_calls set outcome = 'claimed' where by = ${sentBy}`, phone);
      return { phone, linkCode, businessUserId, again };
    }

    it('by the end of the Worker sends its code by the same call again', async () => {
      const { phone, linkCode, again } = await claimedUnnoted();
      // The 10 s in which the first request may still send pass sooner.
      const real = globalThis.setTimeout;
      const soon = (work: () => void, ms?: number) => real(work, (ms ?? 0) / 50);
      vi.spyOn(globalThis, 'setTimeout').mockImplementation(soon);
      const results = await parallel(2, again);
      expect(tally(results)).toEqual({ 200: 2 });
      expect(await codesOn(phone)).toBe(2);
      const code = {
        phone,
        otp: await newestCode(phone),
        challenge: linkCode,
      };
      expect((await redeem(code)).status).toBe(200);
    });

    it('after it was sent and proven takes nothing back by the same call again', async () => {
      const { phone, linkCode, businessUserId, again } = await claimedUnnoted();
      await reportStatus(phone, {
        status: 'delivered',
        recipient_user_id: businessUserId,
      });
      const results = await parallel(5, again);
      expect(tally(results)).toEqual({ 200: 5 });
      expect(await codesOn(phone)).toBe(1);
      const code = {
        phone,
        otp: await newestCode(phone),
        challenge: linkCode,
      };
      expect((await redeem(code)).status).toBe(200);
      expect(await linkedTo(phone)).toEqual([[businessUserId, 'claim']]);
    });

    it('by WhatsApp, whose status overtakes it, lets the code sign in that has arrived', async () => {
      const { phone, linkCode } = await ask();
      const [businessUserId, id] = [newBusinessUserId(), crypto.randomUUID()];
      intercept(async (request, text, send) => {
        const response = await send(request);
        if (!text.includes('biz_opaque_callback_data') || !text.includes(phone.slice(1)))
          return response;
        const { biz_opaque_callback_data } = JSON.parse(text.slice(text.indexOf('\n')));
        const arrived = {
          status: 'delivered',
          recipient_user_id: businessUserId,
        };
        await reportStatus(phone, {
          ...arrived,
          biz_opaque_callback_data,
        });
        throw new TypeError('The response is lost');
      });
      const results = [];
      for (let round = 0; round < 2; round += 1)
        results.push(await claim(linkCode, businessUserId, id));
      expect(results.map(({ status }) => status)).toEqual([503, 200]);
      expect(await codesOn(phone)).toBe(1);
      const code = {
        phone,
        otp: await newestCode(phone),
        challenge: linkCode,
      };
      expect((await redeem(code)).status).toBe(200);
      expect(await linkedTo(phone)).toEqual([[businessUserId, 'claim']]);
    });

    it('sends the code of a refused login, too, whose number sends the link code by its id alone', async () => {
      advanceClock(0);
      const { phone } = await newContact();
      const businessUserId = newBusinessUserId();
      await botCall('/api/bot/contacts', { phone, businessUserId });
      await requestOtp(phone);
      const { linkCode } = (await requestOtp(phone)).body;
      const id = crypto.randomUUID();
      const again = () => claim(linkCode, businessUserId, id);
      // The contact is recorded, and the code is not sent.
      expect(
        (
          await during(
            {
              libsql: {
                cut: true,
                match: 'every-code',
              },
            },
            again,
          )
        ).status,
      ).toBe(503);
      expect(await codesOn(phone)).toBe(1);
      expect((await again()).status).toBe(200);
      expect(await codesOn(phone)).toBe(2);
    });
  });

  it('keeps to the limits of the number, and ties the id only if its own code has made the account', async () => {
    const phone = newPhone();
    const token = await externalSession(phone);
    const late = await claimNumber(phone);
    expect(userOf((await verifyOtp(phone, late.otp)).body.token)).toBe(userOf(token));
    advanceClock(0);
    const [mine, stranger] = [await claimNumber(), newBusinessUserId()];
    const { linkCode } = await ask(mine.phone);
    expect((await claim(linkCode, stranger)).status).toBe(429);
    advanceClock(31 * second);
    expect((await claim(linkCode, stranger)).status).toBe(200);
    await sendBack(mine.businessUserId, mine.otp);
    expect(
      (
        await redeem({
          ...mine,
          challenge: mine.linkCode,
        })
      ).status,
    ).toBe(200);
    expect(await linkedTo(mine.phone)).toEqual([[mine.businessUserId, 'claim']]);
    for (const businessUserId of [late.businessUserId, stranger])
      expect(await allowedBy({ businessUserId })).toBe(false);
  });
});

it('says nothing about a number to whoever does not know the link code, which lasts 30 minutes', async () => {
  const { phone } = await newContact();
  expect(await stateOf({ phone, linkCode: 'GUESSEDX' })).toBe('expired');
  const asked = await ask();
  advanceClock(29 * minute);
  const fault = {
    whatsapp: {
      status: 503,
      match: asked.phone.slice(1),
    },
  };
  expect((await during(fault, () => claim(asked.linkCode))).status).toBe(503);
  advanceClock(minute + second);
  expect(await stateOf(asked)).toBe('expired');
  expect(await claim(asked.linkCode)).toMatchObject(refused);
});

describe('whoever watches a number learns that it has written', () => {
  async function watched() {
    advanceClock(0);
    const asked = await ask();
    advanceClock(second);
    return asked;
  }

  it('together with its code alone, of which a hundred questions at once bring one', async () => {
    const asked = await watched();
    expect([await stateOf(asked), await codesOn(asked.phone)]).toEqual(['waiting', 0]);
    await newContact(asked.phone);
    expect(await codesOn(asked.phone)).toBe(0);
    const states = await parallel(100, () => stateOf(asked));
    expect(states.filter((state) => state === 'code_sent').length).toBeGreaterThan(0);
    expect([await stateOf(asked), await codesOn(asked.phone)]).toEqual(['code_sent', 1]);
    const code = {
      phone: asked.phone,
      otp: await newestCode(asked.phone),
    };
    expect(
      (
        await redeem({
          ...code,
          challenge: asked.linkCode,
        })
      ).status,
    ).toBe(200);
  });

  it('not while a limit or WhatsApp keeps the code from it', async () => {
    const [asked, other] = [await watched(), newAddress()];
    await newContact(asked.phone);
    const fault = {
      whatsapp: {
        status: 503,
        match: asked.phone.slice(1),
      },
    };
    const failed = await during(fault, () =>
      call('POST', '/api/auth/contact-state', { body: asked }),
    );
    expect(failed.status).toBe(503);
    expect((await requestOtp(asked.phone, other)).status).toBe(200);
    expect([await stateOf(asked), await codesOn(asked.phone)]).toEqual(['waiting', 1]);
    advanceClock(31 * second);
    expect([await stateOf(asked), await codesOn(asked.phone)]).toEqual(['code_sent', 2]);
  });
});
