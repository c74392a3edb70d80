import { describe, expect, it } from 'vitest';
import { botCall, call, parallel, vars } from './support/api.ts';
import { advanceClock, day, minute, second } from './support/clock.ts';
import { database, everyValue } from './support/database.ts';
import { costOf } from './support/log.ts';
import { externalSession, newContact, newPhone, requestOtp, userOf, verifyOtp } from './support/person.ts';
import { newestCode, sandbox } from './support/sandbox.ts';

const newBusinessUserId = () => `CO.${crypto.randomUUID().replaceAll('-', '')}`;

/** The login page asks for a code of a number that never wrote. */
async function ask(phone = newPhone()) {
  const { body } = await requestOtp(phone);
  return { phone, linkCode: body.linkCode as string };
}

const claim = (linkCode: string, businessUserId = newBusinessUserId(), id?: string) =>
  botCall('/api/bot/contacts', { businessUserId, linkCode }, id);

const stateOf = async (body: { phone: string; linkCode: string }) =>
  (await call('POST', '/api/auth/contact-state', { body })).body.state;

const codesOn = async (phone: string) => (await sandbox.messages(phone)).filter(({ code }) => code).length;

const holderOf = async (phone: string) => {
  const sql = `select value as id, proof from aliases join users on users.id = user_id where phone = ? and kind = 'business'`;
  return (await database.execute({ sql, args: [phone] })).rows.map(({ id, proof }) => [id, proof]);
};

const refused = [400, 'invalid_field', 'linkCode'];
const refusalOf = ({ status, body }: { status: number; body: any }) => [status, body.code, body.issues?.[0]?.path];

it('shows a link code for a number that never wrote, and none for one that has', async () => {
  const { body } = await requestOtp(newPhone());
  expect(body).toMatchObject({ success: false, requiresInitialContact: true });
  expect(body.linkCode).toMatch(/^[2-9A-HJKMNP-Z]{8}$/);
  const { phone } = await newContact();
  expect((await requestOtp(phone)).body).not.toHaveProperty('linkCode');
});

it('keeps a link code as a keyed hash only', async () => {
  const { linkCode } = await ask();
  const found = (await everyValue()).filter(({ text }) => text.includes(linkCode));
  expect(found).toEqual([]);
});

describe('a claim', () => {
  it('sends the code of the number, which becomes a user with the id when the code has signed in', async () => {
    const asked = await ask();
    const { phone } = asked;
    const businessUserId = newBusinessUserId();
    expect(await stateOf(asked)).toBe('waiting');
    const { body } = await claim(asked.linkCode, businessUserId);
    expect(body).toEqual({ success: true, known: true });
    expect(await stateOf(asked)).toBe('code_sent');
    expect((await botCall('/api/bot/entitlements', { phone })).body.allowed).toBe(false);
    expect((await requestOtp(phone)).body.requiresInitialContact).toBe(true);
    const signedIn = await verifyOtp(phone, await newestCode(phone));
    expect(signedIn.body).toMatchObject({ success: true, status: 'approved' });
    expect(await holderOf(phone)).toEqual([[businessUserId, 'claim']]);
    expect((await botCall('/api/bot/usage', { businessUserId })).body).toMatchObject({ allowed: true, used: 1 });
    const me = await call('GET', '/api/user/me', { token: signedIn.body.token });
    expect(me.body.profile.phoneNumber).toBe(phone);
    advanceClock(31 * second);
    expect((await requestOtp(phone)).body.requiresInitialContact).toBe(false);
  });

  it('is counted once for its day, with nothing about the person', async () => {
    // A day on which no other test counts.
    advanceClock(1000 * day);
    const asked = await ask();
    await claim(asked.linkCode, newBusinessUserId());
    const code = await newestCode(asked.phone);
    await parallel(5, () => verifyOtp(asked.phone, code));
    const today = 'select kind, detail, n from daily_totals where day = ?';
    const { rows } = await database.execute({ sql: today, args: [Math.floor(Date.now() / day)] });
    expect(rows.map((row) => ({ ...row }))).toEqual([{ kind: 'claim', detail: '', n: 1 }]);
  });

  it('gives the code tries of its own by the link code', async () => {
    const { phone, linkCode } = await ask();
    await claim(linkCode);
    const otp = await newestCode(phone);
    await parallel(5, () => verifyOtp(phone, otp === '000000' ? '000001' : '000000'));
    expect((await verifyOtp(phone, otp)).status).toBe(401);
    const { status } = await call('POST', '/api/auth/verify-otp', { body: { phone, otp, challenge: linkCode } });
    expect(status).toBe(200);
  });

  it('opens nothing for another number, by its code or by its link code', async () => {
    const [mine, other] = [await ask(), await ask()];
    for (const { linkCode } of [mine, other]) await claim(linkCode);
    const otp = await newestCode(mine.phone);
    for (const challenge of [undefined, mine.linkCode, other.linkCode]) {
      const body = { phone: other.phone, otp: otp === (await newestCode(other.phone)) ? '000000' : otp, challenge };
      expect((await call('POST', '/api/auth/verify-otp', { body })).body.code).toBe('invalid_code');
      expect(await stateOf({ phone: other.phone, linkCode: mine.linkCode })).toBe('expired');
    }
    expect(await holderOf(other.phone)).toEqual([]);
    expect((await verifyOtp(mine.phone, otp)).status).toBe(200);
  });

  it('sends the code in the language of the page', async () => {
    const phone = newPhone();
    const headers = { 'accept-language': 'es' };
    const { body } = await call('POST', '/api/auth/request-otp', { body: { phone }, headers });
    await claim(body.linkCode);
    const texts = (await sandbox.messages(phone)).map(({ text }) => text);
    expect(texts.join()).toMatch(/código/);
  });

  it('takes the code in small letters', async () => {
    const { linkCode } = await ask();
    expect((await claim(linkCode.toLowerCase())).status).toBe(200);
  });

  it('costs two requests of the database, and so does its sign-in', async () => {
    const { phone, linkCode } = await ask();
    expect(costOf(await claim(linkCode))).toBe(2);
    expect(costOf(await verifyOtp(phone, await newestCode(phone)))).toBe(2);
  });

  it.each([
    ['that nobody was shown', async () => 'ABCDEFGH'],
    ['with look-alikes', async () => 'O01IL0O1'],
    ['that is empty', async () => ''],
    ['that is too long', async () => 'A'.repeat(65)],
    [
      'that is used',
      async () => {
        const { linkCode } = await ask();
        await claim(linkCode);
        return linkCode;
      },
    ],
    [
      'that is older than 30 minutes',
      async () => {
        const { linkCode } = await ask();
        advanceClock(30 * minute + second);
        return linkCode;
      },
    ],
  ])('refuses a code %s', async (_, make) => {
    expect(refusalOf(await claim(await make()))).toEqual(refused);
  });

  it('refuses a code whose number has written meanwhile, and sends nothing', async () => {
    const asked = await ask();
    await newContact(asked.phone);
    expect(await stateOf(asked)).toBe('contacted');
    expect(refusalOf(await claim(asked.linkCode))).toEqual(refused);
    expect(await codesOn(asked.phone)).toBe(0);
  });

  it('is applied once by twenty ids at once', async () => {
    const { phone, linkCode } = await ask();
    const results = await parallel(20, () => claim(linkCode));
    expect(results.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(results.filter((result) => refusalOf(result).join() === refused.join())).toHaveLength(19);
    expect(await codesOn(phone)).toBe(1);
  });

  it('is applied once for twenty posts of one call', async () => {
    const { phone, linkCode } = await ask();
    const [businessUserId, id] = [newBusinessUserId(), crypto.randomUUID()];
    const results = await parallel(20, () => claim(linkCode, businessUserId, id));
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await codesOn(phone)).toBe(1);
  });

  it('signs in once for twenty tries at once', async () => {
    const { phone, linkCode } = await ask();
    const businessUserId = newBusinessUserId();
    await claim(linkCode, businessUserId);
    const otp = await newestCode(phone);
    const results = await parallel(20, () => verifyOtp(phone, otp));
    expect(results.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await holderOf(phone)).toEqual([[businessUserId, 'claim']]);
  });

  it('is allowed three times a day for an id, and for another id still', async () => {
    const businessUserId = newBusinessUserId();
    const asked = await parallel(4, () => ask());
    const results = [];
    for (const { linkCode } of asked) results.push(await claim(linkCode, businessUserId));
    expect(results.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(results[3]!.body.code).toBe('rate_limited');
    expect(Number(results[3]!.headers.get('retry-after'))).toBeGreaterThan(23 * 3600);
    expect((await claim(asked[3]!.linkCode)).status).toBe(200);
    advanceClock(day + second);
    expect((await claim((await ask()).linkCode, businessUserId)).status).toBe(200);
  });

  it('keeps to the limits of the number, and the link code stays good', async () => {
    const phone = newPhone();
    const [first, second_] = [await ask(phone), await ask(phone)];
    expect((await claim(first.linkCode)).status).toBe(200);
    expect((await claim(second_.linkCode)).status).toBe(429);
    advanceClock(31 * second);
    expect((await claim(second_.linkCode)).status).toBe(200);
  });

  it.each([{ status: 503 }, { drop: true as const }])(
    'responds 503 while WhatsApp has the fault %j, and the code stays good',
    async (fault) => {
      const { phone, linkCode } = await ask();
      const [businessUserId, id] = [newBusinessUserId(), crypto.randomUUID()];
      await sandbox.faults({ whatsapp: { ...fault, match: phone.slice(1) } });
      for (let round = 0; round < 4; round += 1)
        expect((await claim(linkCode, businessUserId, id)).body).toMatchObject({ code: 'unavailable' });
      await sandbox.faults({ whatsapp: null });
      expect((await claim(linkCode, businessUserId, id)).status).toBe(200);
      expect((await verifyOtp(phone, await newestCode(phone))).status).toBe(200);
    },
  );

  it('waits as a pending user where users need approval', async () => {
    const { phone, linkCode } = await ask();
    await claim(linkCode);
    const body = { phone, otp: await newestCode(phone) };
    const { body: signedIn } = await call('POST', '/api/auth/verify-otp', { body, settings: { APPROVAL: 'manual' } });
    expect(signedIn.status).toBe('pending');
  });

  it('never ties the id to an account that exists', async () => {
    const phone = newPhone();
    const token = await externalSession(phone);
    const { linkCode } = await ask(phone);
    const businessUserId = newBusinessUserId();
    expect((await claim(linkCode, businessUserId)).status).toBe(200);
    const signedIn = await verifyOtp(phone, await newestCode(phone));
    expect(userOf(signedIn.body.token)).toBe(userOf(token));
    expect((await botCall('/api/bot/entitlements', { businessUserId })).body.allowed).toBe(false);
  });

  it('ties no id whose own code did not sign in', async () => {
    const phone = newPhone();
    const [mine, stranger] = [await ask(phone), await ask(phone)];
    const [myId, strangersId] = [newBusinessUserId(), newBusinessUserId()];
    await claim(mine.linkCode, myId);
    const otp = await newestCode(phone);
    advanceClock(31 * second);
    await claim(stranger.linkCode, strangersId);
    const body = { phone, otp, challenge: mine.linkCode };
    expect((await call('POST', '/api/auth/verify-otp', { body })).status).toBe(200);
    expect(await holderOf(phone)).toEqual([[myId, 'claim']]);
    expect((await botCall('/api/bot/contacts', { businessUserId: strangersId })).status).toBe(404);
  });

  it('counts as a contact for an id that is known, and leaves the link code', async () => {
    const { phone } = await newContact();
    const businessUserId = newBusinessUserId();
    await botCall('/api/bot/contacts', { phone, businessUserId });
    const asked = await ask();
    expect((await claim(asked.linkCode, businessUserId)).status).toBe(200);
    expect(await stateOf(asked)).toBe('waiting');
    expect(await codesOn(asked.phone)).toBe(0);
  });
});

it('says nothing about a number to whoever does not know the code', async () => {
  const { phone } = await newContact();
  expect(await stateOf({ phone, linkCode: 'GUESSEDX' })).toBe('expired');
  const asked = await ask();
  advanceClock(30 * minute + second);
  expect(await stateOf(asked)).toBe('expired');
});

it('opens a link code that was shown before the pepper changed', async () => {
  const asked = await ask();
  const settings = { CODE_PEPPER: `${'n'.repeat(43)} ${vars.CODE_PEPPER}` };
  const { linkCode, phone } = asked;
  const { status } = await botCall(
    '/api/bot/contacts',
    { businessUserId: newBusinessUserId(), linkCode },
    crypto.randomUUID(),
    settings,
  );
  expect(status).toBe(200);
  const body = { phone, otp: await newestCode(phone), challenge: linkCode };
  expect((await call('POST', '/api/auth/verify-otp', { body, settings })).status).toBe(200);
});
