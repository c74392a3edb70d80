import { describe, expect, it, vi } from 'vitest';
import { withinUserLimit } from '../../worker/http/limit-calls.ts';
import { parseLimits } from '../../worker/lib/rate-limits.ts';
import { LiveUser } from '../../worker/live/live-user.ts';
import type { SettingValues } from '../../worker/setting-rules.ts';
import { withRequire } from '../../worker/settings.ts';
import type { Answer, Settings } from './support/api.ts';
import { botCall, call, parallel, newAddress, newNetwork, tally } from './support/api.ts';
import { advanceClock, day, minute, second } from './support/clock.ts';
import {
  type Code,
  newCode,
  otherThan,
  redeem,
  requestCode,
  requestOtp,
  verifyOtp,
} from './support/codes.ts';
import { buy } from './support/buying.ts';
import { newBusinessUserId, newContact, newPhone } from './support/contacts.ts';
import { deleteAccount, externalSession, logOut, newPerson, userOf } from './support/person.ts';
import { costOf, expectUnavailable, logLines, watchDatabase } from './support/requests.ts';
import { newestCode, run, sandbox } from './support/sandbox.ts';
import { OpenStream } from './support/streams.ts';
import { fullUnless } from '../long-tours.ts';

const requestWithin = (budget: number, phone: string) =>
  requestOtp(phone, undefined, { CODE_BUDGET_PER_DAY: String(budget) });
const reportContact = (phone: string, id?: string) => botCall('/api/bot/contacts', { phone }, id);

let daysAhead = 5000;

/** Users whose last contact is a while ago, at noon of a day of their own: nobody else uses that day's budget. */
async function oldContacts(count: number): Promise<string[]> {
  daysAhead += 10;
  advanceClock(daysAhead * day + day / 2 - (Date.now() % day));
  const contacts = await parallel(count, () => newContact());
  advanceClock(11 * minute);
  return contacts.map(({ phone }) => phone);
}

/** A user who has written, but not within the last ten minutes. */
async function quietContact() {
  const contact = await newContact();
  await run('update users set last_contact_at = 0 where phone = ?', contact.phone);
  return contact;
}

describe('the daily budget of codes', () => {
  it('holds for fifty parallel callers, who get twice as many codes if all have just written, and is logged', async () => {
    const phones = await oldContacts(50);
    const answers = await parallel(50, (index) => requestWithin(7, phones[index]!));
    expect(tally(answers)).toEqual({ 200: 7, 503: 43 });
    const { body, headers } = answers.find(({ status }) => status === 503)!;
    expect([body.code, headers.get('retry-after')]).toEqual(['unavailable', '3600']);
    await parallel(50, (index) => reportContact(phones[index]!));
    expect(tally(await parallel(50, (index) => requestWithin(7, phones[index]!)))).toEqual({
      200: 7,
      503: 43,
    });
    const line = { level: 'error', budget: 7 };
    expect(logLines('code_budget_low')).toEqual([
      {
        ...line,
        event: 'code_budget_low',
        sent: 6,
      },
    ]);
    expect(logLines('code_budget_spent')).toEqual([
      { ...line, event: 'code_budget_spent', sent: 7 },
    ]);
  });

  it('counts no code that WhatsApp refused, lets a number pass that has just written, and resets each day', async () => {
    const [first, next, last] = (await oldContacts(3)) as [string, string, string];
    const request = async (phone: string) => (await requestWithin(1, phone)).status;
    await sandbox.faults({
      whatsapp: {
        status: 500,
        match: first.slice(1),
      },
    });
    const failed = await requestWithin(1, first);
    expectUnavailable(failed);
    expect(failed.headers.get('retry-after')).toBe('1');
    await sandbox.faults({ whatsapp: null });
    expect([await request(first), await request(next)]).toEqual([200, 503]);
    await reportContact(next);
    expect([await request(next), await request(last)]).toEqual([200, 503]);
    advanceClock(day);
    expect(await request(last)).toBe(200);
  });
});

describe('the daily budget of wrong codes', () => {
  const settings = { WRONG_TRIES_BUDGET_PER_DAY: '6' };
  const guess = (code: Code) => redeem({ ...code, otp: otherThan(code.otp) }, { settings });

  it('counts those of all numbers, and refuses codes without a challenge above it, until the next day', async () => {
    await oldContacts(0);
    const [one, other] = [await newCode(), await newCode()];
    const alone = { ...other, challenge: undefined };
    const guesses = [await parallel(4, () => guess(one)), await parallel(2, () => guess(alone))];
    expect(tally(guesses.flat())).toEqual({ 401: 6 });
    expect(logLines('code_wrong').map(({ withChallenge }) => withChallenge)).toEqual([
      ...Array(4).fill(true),
      ...Array(2).fill(false),
    ]);
    expect(logLines('wrong_codes_budget_spent')).toMatchObject([{ level: 'error', budget: 6 }]);

    const refused = await redeem(alone, { settings });
    expect(refused).toMatchObject({
      status: 429,
      body: { code: 'rate_limited' },
    });
    expect(refused.headers.get('retry-after')).toBe('3600');
    expect(costOf(refused)).toBe(1);
    expect((await redeem(one, { settings })).status).toBe(200);
    advanceClock(day);
    const { phone, otp } = await newCode(other.phone);
    expect((await redeem({ phone, otp }, { settings })).status).toBe(200);
  });

  it('holds for fifty parallel callers', async () => {
    await oldContacts(0);
    const codes = await parallel(10, async () => ({
      ...(await newCode()),
      challenge: undefined,
    }));
    const answers = await parallel(50, (index) => guess(codes[index % 10]!));
    expect(tally(answers)).toEqual({ 401: 6, 429: 44 });
  });
});

it('sends a number 25 codes a day to callers, also after a deletion, and five more to whom the number itself asks', async () => {
  advanceClock(0);
  const { phone, token } = await newPerson();
  const request = async () => {
    await reportContact(phone);
    return requestOtp(phone);
  };
  await sandbox.faults({
    whatsapp: {
      status: 500,
      match: phone.slice(1),
    },
  });
  expect((await request()).status).toBe(503);
  await sandbox.faults({ whatsapp: null });
  for (let codes = 2; codes <= 25; codes += 1) expect((await request()).status).toBe(200);
  for (let codes = 26; codes <= 31; codes += 1) {
    const { status, headers, body } = await request();
    expect([status, headers.get('retry-after')]).toEqual([429, '86400']);
    const contact = { phone, linkCode: body.linkCode };
    expect((await botCall('/api/bot/contacts', contact)).status).toBe(200);
    expect(await sandbox.messages(phone)).toHaveLength(Math.min(codes, 30));
  }
  await deleteAccount(token);
  expect((await request()).status).toBe(429);
  advanceClock(day);
  expect((await request()).status).toBe(200);
});

describe('a refusal of a code for too many requests', () => {
  const stateOf = async (body: object) =>
    (await call('POST', '/api/auth/contact-state', { body })).body.state;
  /** Somebody whom strangers have kept from getting a code. */
  async function lockedOut() {
    const { phone } = await newContact();
    await requestOtp(phone);
    const { status, body } = await requestOtp(phone);
    expect([status, body.message]).toEqual([429, 'Too many requests. Please try again later.']);
    return { phone, linkCode: body.linkCode as string };
  }

  it('shows a link code that brings this login its code when the number sends it, once', async () => {
    advanceClock(0);
    const [asked, id] = [await lockedOut(), crypto.randomUUID()];
    const { phone, linkCode } = asked;
    expect(linkCode).toMatch(/^[2-9A-HJKMNP-Z]{8}$/);
    // A message without the code brings no code.
    await reportContact(phone);
    expect(await stateOf(asked)).toBe('waiting');
    const contact = () => botCall('/api/bot/contacts', { phone, linkCode }, id);
    expect(tally(await parallel(20, contact))).toEqual({ 200: 20 });
    expect(await stateOf(asked)).toBe('code_sent');
    expect(await sandbox.messages(phone)).toHaveLength(2);
    const otp = await newestCode(phone);
    expect(
      (
        await redeem({
          phone,
          otp,
          challenge: linkCode,
        })
      ).status,
    ).toBe(200);
  });

  it('shows one that neither another number nor an expired one can use, and that stays good while WhatsApp is down', async () => {
    advanceClock(0);
    const [asked, other] = [await lockedOut(), await newContact()];
    const send = (phone: string) =>
      botCall('/api/bot/contacts', { phone, linkCode: asked.linkCode });
    expect((await send(other.phone)).status).toBe(200);
    for (const { phone } of [asked, other])
      expect(await sandbox.messages(phone)).toHaveLength(phone === asked.phone ? 1 : 0);
    for (const fault of [{ status: 503 }, { drop: true as const }]) {
      await sandbox.faults({
        whatsapp: {
          ...fault,
          match: asked.phone.slice(1),
        },
      });
      expectUnavailable(await send(asked.phone));
    }
    await sandbox.faults({ whatsapp: null });
    expect((await send(asked.phone)).status).toBe(200);
    const otp = await newestCode(asked.phone);
    const late = await lockedOut();
    expect(
      (
        await redeem({
          phone: asked.phone,
          otp,
          challenge: asked.linkCode,
        })
      ).status,
    ).toBe(200);
    advanceClock(31 * minute);
    expect((await botCall('/api/bot/contacts', late)).status).toBe(200);
    expect(await stateOf(late)).toBe('expired');
    expect(await sandbox.messages(late.phone)).toHaveLength(1);
  });

  it('is the same for an unknown number, whose claim brings the code', async () => {
    const address = newAddress();
    await parallel(60, () => requestOtp(newPhone(), address));
    const [quiet] = await oldContacts(1);
    await parallel(60, () => requestOtp(newPhone(), address));
    const phone = newPhone();
    const answers = [await requestOtp(quiet!, address), await requestOtp(phone, address)];
    for (const { status, body } of answers) {
      const { linkCode, ...rest } = body;
      expect([status, linkCode.length, rest]).toEqual([
        429,
        8,
        {
          success: false,
          code: 'rate_limited',
          message: 'Too many requests. Please try again later.',
        },
      ]);
    }
    const { linkCode } = answers[1]!.body;
    const businessUserId = newBusinessUserId();
    expect(
      (
        await botCall('/api/bot/contacts', {
          businessUserId,
          linkCode,
        })
      ).status,
    ).toBe(200);
    const otp = await newestCode(phone);
    expect(
      (
        await redeem({
          phone,
          otp,
          challenge: linkCode,
        })
      ).status,
    ).toBe(200);
  });

  it('comes five times as often as requests are allowed, and then no row is written', async () => {
    const settings = { LIMIT_CODE_REQUESTS_PER_ADDRESS: '1/1h' };
    const [address, phone] = [newAddress(), newPhone()];
    const ask = () => requestOtp(phone, address, settings);
    const stored = async () =>
      (await run('select mac from link_codes where phone = ?', phone)).rows.length;
    await ask();
    for (let count = 0; count < 5; count += 1) expect((await ask()).body.linkCode).toHaveLength(8);
    expect(await stored()).toBe(6);

    const { status, body } = await ask();
    expect([status, body.code, body.linkCode]).toEqual([429, 'rate_limited', undefined]);
    expect(await stored()).toBe(6);
    await newContact(phone);
    expect((await ask()).body).toMatchObject({ success: true });
  });
});

/** Expects that so many owners, who have just written, sign in from an address that an attacker uses as well. */
async function expectOwners(count: number, address: string): Promise<void> {
  for (let owner = 0; owner < count; owner += 1) {
    const code = await newCode(newPhone(), { address });
    expect((await redeem(code, { address })).status).toBe(200);
  }
}

describe('behind one address that an attacker uses as well', () => {
  for (const [what, counts, attack] of [
    ['tries', { 401: 60, 429: 10 }, (address: string) => verifyOtp(newPhone(), '123456', address)],
    ['requests', { 200: 60, 429: 10 }, (address: string) => requestOtp(newPhone(), address)],
  ] as const)
    it(
      `thirty owners sign in while the attacker has used up its ${what}`,
      fullUnless(what === 'tries'),
      async () => {
        advanceClock(0);
        const address = newAddress();
        expect(tally(await parallel(70, () => attack(address)))).toEqual(counts);
        await expectOwners(30, address);
        expect((await attack(address)).status).toBe(429);
      },
    );

  it('codes that sign nobody in count, twenty an hour, for an IPv6 by its /64', async () => {
    advanceClock(0);
    const subnet = `${newNetwork()}:2:`;
    await expectOwners(5, `${subnet}:1`);
    // Whoever has just written passes the limit.
    const contacts = await parallel(22, () => quietContact());
    const answers = await parallel(22, (index) =>
      requestOtp(contacts[index]!.phone, `${subnet}:${index}`),
    );
    expect((await requestOtp((await newContact()).phone, `${subnet}:1`)).status).toBe(200);
    expect(tally(answers)).toEqual({ 200: 20, 429: 2 });
    expect(answers.find(({ status }) => status === 429)!.headers.get('retry-after')).toBe('3600');
  });

  it('tries with a live challenge do not count for the address, however wrong, and all others do', async () => {
    advanceClock(0);
    const address = newAddress();
    const wrong = await parallel(13, async () => {
      const code = await newCode();
      return parallel(5, () => redeem({ ...code, otp: otherThan(code.otp) }, { address }));
    });
    expect(tally(wrong.flat())).toEqual({ 401: 65 });
    const forged = {
      phone: (await newContact()).phone,
      otp: '123456',
      challenge: 'forged',
    };
    const others = await parallel(62, (index) =>
      index % 2 ? verifyOtp(newPhone(), '123456', address) : redeem(forged, { address }),
    );
    expect(tally(others)).toEqual({ 401: 60, 429: 2 });
  });

  it('requests for a known number count when they send no code, and refusals show nothing about another one', async () => {
    advanceClock(0);
    const [known, quiet] = (await oldContacts(2)) as [string, string];
    const address = newAddress();
    expect(tally(await parallel(65, () => requestOtp(known, address)))).toEqual({
      200: 1,
      429: 64,
    });
    // A number that has not just written waits with the attacker, as an unknown one does.
    expect(
      tally([await requestOtp(quiet, address), await requestOtp(newPhone(), address)]),
    ).toEqual({ 429: 2 });
  });
});

it.each<
  [
    what: string,
    limit: string,
    status: number,
    act: (address: string, settings: Settings) => Promise<Answer>,
  ]
>([
  ['codes', 'CODES', 200, async (...from) => requestOtp((await quietContact()).phone, ...from)],
  ['requests', 'CODE_REQUESTS', 200, (...from) => requestOtp(newPhone(), ...from)],
  [
    'tries',
    'TRIES',
    401,
    (address, settings) => redeem({ phone: newPhone(), otp: '123456' }, { address, settings }),
  ],
])(
  'limits %s of an IPv6 network, whichever of its subnets they come from',
  async (_, limit, status, act) => {
    const settings = { [`LIMIT_${limit}_PER_NETWORK`]: '3/5m' };
    const network = newNetwork();
    const answers = await parallel(5, (subnet) => act(`${network}:${subnet}::1`, settings));
    expect(tally(answers)).toEqual({ [status]: 3, 429: 2 });
    expect((await act(`${newNetwork()}:1::1`, settings)).status).toBe(status);
  },
);

describe('a contact that the bot reports', () => {
  it('clears the limits on codes and twenty wrong tries a day, so the owner signs in, also during an attack', async () => {
    advanceClock(0);
    const { phone } = await newContact();
    let invalid = '';
    for (let round = 0; round < 4; round += 1) {
      invalid = (await requestCode(phone)).otp;
      await parallel(5, () => verifyOtp(phone, otherThan(invalid)));
      advanceClock(31 * second);
    }
    const { status, headers } = await requestOtp(phone);
    expect([status, headers.get('retry-after')]).toEqual([429, String(86_400 - 4 * 31)]);
    await reportContact(phone);
    // An invalid code stays invalid.
    expect(await verifyOtp(phone, invalid)).toMatchObject({
      status: 401,
      body: { code: 'invalid_code' },
    });
    const { otp } = await requestCode(phone);
    const [one, other] = [newAddress(), newAddress()];
    await parallel(50, (index) =>
      index % 2 ? requestOtp(phone, one) : verifyOtp(phone, otherThan(otp), other),
    );
    await reportContact(phone);
    expect((await verifyOtp(phone, (await requestCode(phone)).otp)).status).toBe(200);
  });

  it('clears the 30 seconds between two codes, of its own number alone, and once for its id', async () => {
    advanceClock(0);
    const [{ phone }, other, id] = [await newContact(), await newContact(), crypto.randomUUID()];
    const request = async () => (await requestOtp(phone)).status;
    expect([await request(), await request()]).toEqual([200, 429]);
    await reportContact(other.phone);
    expect(await request()).toBe(429);
    await reportContact(phone, id);
    expect(await request()).toBe(200);
    expect((await reportContact(phone, id)).status).toBe(200);
    expect(await request()).toBe(429);
  });
});

describe('the spelling of WhatsApp', () => {
  it('is kept when a later report leaves it out, and follows one that names another', async () => {
    const salt = newPhone().slice(-6);
    const [spelled, dialled] = [`+5215530${salt}`, `+525530${salt}`];
    const received = async () => [
      (await sandbox.messages(spelled)).length,
      (await sandbox.messages(dialled)).length,
    ];
    await botCall('/api/bot/contacts', {
      phone: spelled,
      whatsappId: spelled.slice(1),
    });
    await reportContact(dialled);
    const { otp } = await requestCode(spelled);
    expect(await received()).toEqual([1, 0]);
    await botCall('/api/bot/contacts', {
      phone: dialled,
      whatsappId: dialled.slice(1),
    });
    expect((await requestOtp(dialled)).body).toMatchObject({
      success: true,
      requiresInitialContact: false,
    });
    expect(await received()).toEqual([1, 1]);
    expect((await verifyOtp(spelled, await newestCode(dialled))).status).toBe(200);
    expect((await verifyOtp(dialled, otp)).status).toBe(401);
  });

  it('is refused when it is another number, whatever its form', async () => {
    const [{ phone }, attacker] = [await newContact(), newPhone()];
    const issues = [
      { path: 'whatsappId', message: 'whatsappId must be a spelling of the same number' },
    ];
    const refusal = {
      status: 400,
      body: { code: 'invalid_field', issues },
    };
    for (const whatsappId of [attacker.slice(1), `${phone.slice(1)}0`, phone.slice(2)])
      expect(
        await botCall('/api/bot/contacts', {
          phone,
          whatsappId,
        }),
        whatsappId,
      ).toMatchObject(refusal);
    const letters = await botCall('/api/bot/contacts', {
      phone,
      whatsappId: 'US.123',
    });
    expect([letters.status, letters.body.issues[0].path]).toEqual([400, 'whatsappId']);
    await requestOtp(phone);
    expect(await sandbox.messages(phone)).toHaveLength(1);
  });
});

const platform = (token: string) => call('GET', '/api/user/platform', { token });

/** The statuses of 250 calls of one minute, 50 at a time, with the sessions by turns. */
async function statusesOf(...tokens: string[]) {
  // The clock stands still: all calls are of one minute.
  advanceClock(0);
  const answers = [];
  for (let round = 0; round < 5; round += 1)
    answers.push(...(await parallel(50, (index) => platform(tokens[index % tokens.length]!))));
  return tally(answers);
}

it('lets the sessions of a user make 240 calls a minute together, and an ended one as many of its own', async () => {
  const [{ phone, token }, other] = [await newPerson(), await newPerson()];
  expect(await statusesOf(token, await externalSession(phone))).toEqual({
    200: 240,
    429: 10,
  });
  const result = await platform(token);
  const message = 'Too many requests. Please try again later.';
  expect(result).toMatchObject({
    status: 429,
    body: { success: false, code: 'rate_limited', message },
  });
  const retryAfter = Number(result.headers.get('retry-after'));
  expect(retryAfter).toBeGreaterThan(0);
  expect(retryAfter).toBeLessThanOrEqual(60);
  expect(costOf(result)).toBe(0);
  expect((await platform(other.token)).status).toBe(200);
  advanceClock(minute);
  const ended = await externalSession(phone);
  await logOut(ended);
  expect(await statusesOf(ended)).toEqual({ 401: 240, 429: 10 });
  // Of these only the logout was a call of the user.
  expect(await statusesOf(token)).toEqual({ 200: 239, 429: 11 });
  advanceClock(minute);
  expect((await platform(ended)).status).toBe(401);
});

it('asks the limiter that all isolates share for each call of a session', async () => {
  const limit = vi.fn(async () => ({ success: false }));
  const settings = withRequire({ LIMIT_CALLS_PER_USER: parseLimits('240/1m') } as SettingValues);
  const context = {
    env: { RATE_LIMITER: { limit } },
    settings,
    now: 1,
  } as never;
  const session = {
    tokenUserId: 'person',
    sessionId: 'session',
  } as never;
  const act = () => withinUserLimit(context, session, async () => 'done');
  await expect(act()).rejects.toMatchObject({ errorName: 'rateLimited' });
  expect(limit).toHaveBeenCalledWith({ key: 'session' });
});

it('reaches neither the database nor the live object for a session that was found to have ended', async () => {
  const { token } = await newPerson();
  await logOut(token);
  const requests = watchDatabase(userOf(token));
  const opened = vi.spyOn(LiveUser.prototype, 'fetch');
  const expected = vi.spyOn(LiveUser.prototype, 'expectEnd');
  const first = await logOut(token);
  expect([first.status, costOf(first)]).toEqual([401, 1]);
  expect(requests.map(({ text }) => /delete|update|insert/i.test(text))).toEqual([false]);
  for (const [method, path] of [
    ['POST', '/api/auth/logout'],
    ['DELETE', '/api/user/sessions/any'],
    ['GET', `/api/user/usage-stream?token=${encodeURIComponent(token)}`],
    ['GET', '/api/user/me'],
  ] as const) {
    const result = await call(method, path, { token });
    expect([result.status, costOf(result)], path).toEqual([401, 0]);
  }
  expect([opened.mock.calls, expected.mock.calls]).toEqual([[], []]);
  const live = await newPerson();
  const stream = await OpenStream.opened(live.token);
  await logOut(live.token);
  await stream.until(({ ended }) => ended);
  expect([opened.mock.calls.length, expected.mock.calls.length]).toEqual([1, 1]);
});

it('asks the platform about public calls of an IPv6 by its /64 and by its /48, and of an IPv4 itself', async () => {
  const [address, network] = [0, 1].map(() => vi.fn(async () => ({ success: true })));
  const settings = {
    RATE_LIMITER: { limit: address },
    NETWORK_RATE_LIMITER: { limit: network },
  } as never;
  const statusFrom = async (from: string) =>
    (
      await call('GET', '/api/health', {
        address: from,
        settings,
      })
    ).status;
  expect([await statusFrom('2001:db8:1:2::3'), await statusFrom('203.0.113.9')]).toEqual([
    200, 200,
  ]);
  expect(address!.mock.calls).toEqual([
    [{ key: 'health:2001:db8:1:2::/64' }],
    [{ key: 'health:203.0.113.9' }],
  ]);
  expect(network!.mock.calls).toEqual([[{ key: 'health:2001:db8:1::/48' }]]);
  for (const limiter of [address, network]) {
    limiter!.mockResolvedValueOnce({ success: false });
    expect(await statusFrom('2001:db8:1:2::3')).toBe(429);
  }
});

it('a limiter of the platform that fails refuses nobody', async () => {
  const limiter = { limit: () => Promise.reject(new Error('Network connection lost.')) };
  const settings = { RATE_LIMITER: limiter, NETWORK_RATE_LIMITER: limiter } as never;
  const { token } = await newPerson();
  const address = '2001:db8:1:2::3';
  expect((await call('GET', '/api/health', { address, settings })).status).toBe(200);
  expect((await call('GET', '/api/user/me', { token, settings })).status).toBe(200);
  expect(logLines('limiter_failed')).not.toEqual([]);
});

it('a person asks Stripe at most 120 times an hour, beside billing pages', async () => {
  advanceClock(0);
  const { token } = await newPerson();
  const ask = () => call('GET', '/api/billing/withdrawal', { token });
  const answers = [];
  for (let round = 0; round < 6; round += 1) answers.push(...(await parallel(20, ask)));
  expect(tally(answers)).toEqual({ 200: 120 });
  const limited = await call('POST', '/api/billing/resume', { token });
  expect(limited).toMatchObject({
    status: 429,
    body: { code: 'rate_limited' },
  });
  advanceClock(61 * minute);
  expect((await ask()).status).toBe(200);
});

it('a person opens at most 20 billing pages an hour, the portal among them', async () => {
  const { token } = await newPerson();
  const portal = () => call('POST', '/api/billing/create-portal-session', { token });
  for (let count = 0; count < 19; count += 1) expect((await buy(token)).status).toBe(200);
  expect((await portal()).body.code).toBe('no_billing_account');
  expect((await portal()).body.code).toBe('rate_limited');
  const limited = await buy(token);
  expect(limited).toMatchObject({
    status: 429,
    body: { code: 'rate_limited' },
  });
  expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(3000);
  expect((await buy((await newPerson()).token)).status).toBe(200);
  advanceClock(61 * minute);
  expect((await buy(token)).status).toBe(200);
});
