import { describe, expect, it, vi } from 'vitest';
import {
  type Answer,
  botHeaders,
  call,
  newAddress,
  newNetwork,
  parallel,
  tally,
} from './support/api.ts';
import { buy, buyer, buysFrom, newSubscriber, subscribe } from './support/buying.ts';
import { beginChange, newCode, redeem, requestOtp } from './support/codes.ts';
import { newContact, newPhone, post, usageOf } from './support/contacts.ts';
import { deleteAccount, newPerson, type Person, planOf } from './support/person.ts';
import { costOf, intercept } from './support/requests.ts';
import { reply, untilDelivered, write } from './support/chat.ts';
import { during, sandbox } from './support/sandbox.ts';
import { newSpeaker, recordingOf, sendRecording } from './support/voice.ts';
import { customerOf, subscriptionOf, stripe } from './support/stripe.ts';
import { advance, fetchByCron, hour } from './support/stripe-events.ts';
import { advanceClock, second } from './support/clock.ts';

/** Cloudflare's limiters, which count by key and forget nothing within a test: so many calls of an address. */
function newLimiters(most = 600) {
  const limiter = (limited: number) => {
    const counts = new Map<string, number>();
    const limit = async ({ key }: { key: string }) => {
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return { success: count <= limited };
    };
    return { limit };
  };
  return {
    RATE_LIMITER: limiter(most),
    NETWORK_RATE_LIMITER: limiter(5 * most),
  } as never;
}

async function many(count: number, work: () => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = [];
  while (answers.length < count) answers.push(...(await parallel(20, work)));
  return answers;
}

describe('behind one address with everybody else', () => {
  for (const [method, path, body] of [
    ['GET', '/api/country', undefined],
    ['GET', '/api/openapi.json', undefined],
    ['GET', '/api/health', undefined],
    ['POST', '/api/auth/contact-state', { phone: '+4915700000000', linkCode: '23456789' }],
  ] as const)
    it(
      `620 calls of ${method} ${path} keep nobody from signing in`,
      { tags: ['full'] },
      async () => {
        const [settings, address] = [newLimiters(), newAddress()];
        const calls = await many(620, () =>
          call(method, path, {
            address,
            body,
            settings,
          }),
        );
        // Where a call names a number, each number has a bucket of its own.
        expect(tally(calls)).toEqual(
          body
            ? { 200: 620 }
            : {
                200: 600,
                429: 20,
              },
        );

        const { phone } = await newContact();
        const code = await newCode(phone, { address, settings });
        expect((await redeem(code, { address, settings })).status).toBe(200);
        // A token names no number, so that it has the bucket of its call alone.
        const unknown = {
          address,
          body: { trialToken: 'unknown' },
          settings,
        };
        const byToken = await call('POST', '/auth/verify-trial-token', unknown);
        expect(byToken).toMatchObject({
          status: 401,
          body: { code: 'invalid_token' },
        });
      },
    );

  it('a right code with its challenge gets through, whatever others ask for and try', async () => {
    const [settings, address] = [newLimiters(80), newAddress()];
    const { phone } = await newContact();
    const asked = await many(100, () => requestOtp(newPhone(), address, settings));
    expect(tally(asked)).toEqual({ 200: 60, 429: 40 });
    const code = await newCode(phone, { address, settings });

    const forged = {
      phone: newPhone(),
      otp: '123456',
      challenge: 'forged',
    };
    await many(100, () => redeem(forged, { address, settings }));
    expect((await redeem(code, { address, settings })).status).toBe(200);
  });
});

/** Headers like those of the bot, with a signature that is another body's. */
const forgedHeaders = () => botHeaders('{"phone":"another"}');

describe('a call whose signature is wrong', () => {
  const large = JSON.stringify({
    phone: newPhone(),
    text: 'x'.repeat(100_000),
  });

  it.each([
    // A wrong time is told to whoever signs rightly, so that it needs the body.
    [
      '/api/bot/messages',
      () => ({
        ...forgedHeaders(),
        'webhook-timestamp': 'soon',
      }),
    ],
    ['/api/bot/messages', () => ({})],
    ['/api/webhooks/stripe', () => ({ 'stripe-signature': 't=1,v1=00' })],
    ['/api/webhooks/whatsapp', () => ({ 'x-hub-signature-256': 'sha256=00' })],
  ])('is refused by its headers alone where they are wrong: %s, case %#', async (path, headers) => {
    const read = vi.spyOn(Request.prototype, 'arrayBuffer');
    const settings = { WHATSAPP_APP_SECRET: 'secret of the app' };
    const answer = await call('POST', path, {
      body: {},
      headers: headers(),
      settings,
    });
    expect([answer.status, answer.body.code]).toEqual([
      path.includes('stripe') ? 400 : 401,
      'invalid_signature',
    ]);
    expect([read.mock.calls, costOf(answer)]).toEqual([[], 0]);
  });

  it('counts for its address, which reads no large body more, and keeps a right one from nothing', async () => {
    advanceClock(0);
    const address = newAddress();
    const forge = () =>
      call('POST', '/api/bot/entitlements', {
        body: {},
        headers: forgedHeaders(),
        address,
      });
    expect(tally(await many(620, forge))).toEqual({ 401: 600, 429: 20 });

    const { phone } = await newContact();
    const text = JSON.stringify({ phone });
    const right = { text, headers: botHeaders(text), address };
    expect((await call('POST', '/api/bot/entitlements', right)).status).toBe(200);
    const voice = {
      text: large,
      headers: botHeaders(large),
      address,
    };
    expect((await call('POST', '/api/bot/messages', voice)).status).toBe(429);
    const elsewhere = {
      ...voice,
      headers: forgedHeaders(),
      address: newAddress(),
    };
    expect((await call('POST', '/api/bot/messages', elsewhere)).status).toBe(401);
  });
});

it('a wrong token counts for the network of its address, too', async () => {
  advanceClock(0);
  const [network, { token }] = [newNetwork(), await newPerson()];
  const from = (subnet: number) => `${network}:${subnet}::1`;
  const me = (address: string, shown = 'a.b.c') =>
    call('GET', '/api/user/me', {
      token: shown,
      address,
    });
  // Each address may fail 600 times, and all of a network 3,000 times.
  for (let subnet = 1; subnet <= 5; subnet += 1)
    expect(tally(await many(620, () => me(from(subnet))))).toEqual({ 401: 600, 429: 20 });
  expect(tally(await many(20, () => me(from(6))))).toEqual({ 429: 20 });
  expect((await me(from(6), token)).status).toBe(200);

  const text = JSON.stringify({
    phone: newPhone(),
    text: 'x'.repeat(100_000),
  });
  const large = (address: string) =>
    call('POST', '/api/bot/messages', {
      text,
      headers: forgedHeaders(),
      address,
    });
  expect((await large(from(7))).status).toBe(429);
  expect((await large(`${newNetwork()}:7::1`)).status).toBe(401);
});

it('a wrong token counts for its address, and a right one passes', { tags: ['full'] }, async () => {
  advanceClock(0);
  const [address, { token }] = [newAddress(), await newPerson()];
  const me = (shown: string) =>
    call('GET', '/api/user/me', {
      token: shown,
      address,
    });
  expect(tally(await many(620, () => me('a.b.c')))).toEqual({
    401: 600,
    429: 20,
  });
  expect((await me(token)).status).toBe(200);
  const stream = await call('GET', '/api/user/usage-stream?token=a.b.c', { address });
  expect(stream.status).toBe(429);
});

it('the limiter of the platform refuses an address that has called 600 times in a minute', async () => {
  const address = newAddress();
  const answers: Answer[] = [];
  // The minutes are those of the real clock: a slow machine makes more than 600 calls before one is refused.
  while (answers.length < 12_000 && !answers.some(({ status }) => status === 429))
    answers.push(...(await many(20, () => call('GET', '/api/country', { address }))));
  const { 200: answered, 429: refused } = tally(answers);
  expect(answered).toBeGreaterThanOrEqual(600);
  expect(refused).toBeGreaterThan(0);
});

describe('a week that was used stands, whichever numbers its person moves between', () => {
  async function move({ token }: Person, phone: string): Promise<Person> {
    const body = await beginChange(token, phone);
    // With settings it returns when its sync has ended.
    const moved = await call('POST', '/api/user/phone/verify', {
      token,
      body,
      settings: {},
    });
    expect(moved.status).toBe(200);
    return { phone, token };
  }

  /** The plan ends at once, before its week is over. */
  async function end(customer: string): Promise<void> {
    await stripe.subscriptions.cancel((await subscriptionOf(customer)).id);
    await fetchByCron(customer);
  }

  async function spent(): Promise<Person> {
    const person = await newPerson();
    expect((await post(person.phone, 5)).body.allowed).toBe(true);
    return person;
  }

  it('goes with a number to whoever comes to it', async () => {
    advanceClock(0);
    const left = await spent();
    await deleteAccount(left.token);
    const moved = await move(await newPerson(), left.phone);
    expect((await post(moved.phone)).body).toMatchObject({
      allowed: false,
      used: 5,
    });
    advanceClock(31 * second);
    // And with whoever came to it, to the next number.
    const next = await move(moved, newPhone());
    expect((await post(next.phone)).body).toMatchObject({
      allowed: false,
      used: 5,
    });
  });

  it('is not forgotten for a lesser count at the same number', async () => {
    const { phone, token } = await spent();
    await deleteAccount(token);
    const other = await newPerson();
    await post(other.phone, 1);
    const moved = await move(other, phone);
    await deleteAccount(moved.token);
    await newContact(phone);
    expect((await usageOf(phone)).used).toBe(5);
  });

  it('stands for a paying person, too, in both directions', async () => {
    const payer = await spent();
    await subscribe(payer.token, 'basic');
    const { phone: earlier } = payer;
    const moved = await move(payer, newPhone());
    expect(await usageOf(moved.phone)).toMatchObject({
      tier: 'basic',
      used: 0,
    });
    await newContact(earlier);
    expect((await post(earlier)).body).toMatchObject({
      allowed: false,
      used: 5,
    });

    await end(await customerOf(moved.phone));
    expect(await planOf(moved.token)).toEqual(['free', 'active']);
    expect((await post(moved.phone)).body).toMatchObject({
      allowed: false,
      used: 5,
    });
  });

  it('stands for a number to which somebody has come with a paid week', async () => {
    const left = await spent();
    await deleteAccount(left.token);
    const payer = await newSubscriber('basic');
    const moved = await move(payer, left.phone);
    expect((await post(moved.phone)).body).toMatchObject({
      allowed: true,
      used: 1,
    });
    await end(payer.customer);
    expect((await post(moved.phone)).body).toMatchObject({
      allowed: false,
      used: 5,
    });
  });
});

describe('a week whose plan was cut off stands until it is over', () => {
  const withdraw = async ({ token }: Person) => {
    const { body } = await call('POST', '/api/billing/withdrawal', { token });
    expect(body.statement.state).toBe('done');
  };
  const profileOf = async ({ token }: Person) =>
    (await call('GET', '/api/user/me', { token })).body.profile;

  it('with its count under the free allowance, after a withdrawal', async () => {
    advanceClock(0);
    const person = await newPerson();
    await post(person.phone, 3);
    await buysFrom(person, { tier: 'basic' });
    const { body } = await post(person.phone, 30);
    expect(body).toMatchObject({ allowed: true, used: 30 });
    await withdraw(person);
    expect(await profileOf(person)).toMatchObject({ messagesUsedThisPeriod: 30 });
    const after = (await post(person.phone)).body;
    const { resetsAt } = body;
    expect(after).toMatchObject({
      allowed: false,
      used: 30,
      limit: 5,
      tier: 'free',
      resetsAt,
    });

    advanceClock(Date.parse(resetsAt) - Date.now() + 61 * second);
    expect((await post(person.phone)).body).toMatchObject({
      allowed: true,
      used: 1,
    });
  });

  it('over every purchase that is withdrawn, too, whose own week begins with nothing', async () => {
    const person = await newPerson();
    for (const count of [70, 70, 2]) {
      await buysFrom(person, { tier: 'premium' });
      expect(await usageOf(person.phone)).toMatchObject({
        tier: 'premium',
        used: 0,
      });
      expect((await post(person.phone, count)).body.allowed).toBe(true);
      await withdraw(person);
      expect((await post(person.phone)).body).toMatchObject({
        allowed: false,
        used: 70,
      });
    }
  });

  it('after an end that the owner makes at Stripe', async () => {
    const { phone, customer } = await buyer('basic');
    await post(phone, 30);
    await stripe.subscriptions.cancel((await subscriptionOf(customer)).id);
    await fetchByCron(customer);
    expect((await post(phone)).body).toMatchObject({
      allowed: false,
      used: 30,
      limit: 5,
    });
  });

  it('and no longer, so that a plan that ends with its week leaves nothing', async () => {
    const { phone, token } = await buyer('basic');
    await post(phone, 30);
    await call('POST', '/api/billing/cancel', { token });
    await advance(phone, 8 * 24 * hour);
    expect(await planOf(token)).toEqual(['free', 'active']);
    expect(await usageOf(phone)).toMatchObject({ tier: 'free', used: 0 });
  });

  it('whole for somebody who has used less than before the purchase', async () => {
    const person = await newPerson();
    const free = (await post(person.phone, 4)).body;
    await buysFrom(person, { tier: 'basic' });
    await post(person.phone, 1);
    await withdraw(person);
    const { resetsAt } = free;
    expect((await post(person.phone)).body).toMatchObject({
      allowed: true,
      used: 5,
      resetsAt,
    });
  });
});

describe('in the day after a crisis, with a spent allowance', () => {
  async function inCrisis(limit: number) {
    advanceClock(0);
    const person = await newSpeaker();
    await sandbox.botMode('silent', person.phone);
    await reply(person.phone, 'Please call somebody.', 'crisis-1', { crisis: true });
    await post(person.phone, limit);
    return person;
  }

  it('texts are bounded by the limit a minute alone, also while the bot is down', async () => {
    const { token } = await inCrisis(70);
    const minutes = [];
    for (let count = 0; count < 2; count += 1) {
      const answers = [];
      for (let text = 0; text < 22; text += 1) answers.push(await write(token, `Text ${text}`));
      minutes.push(tally(answers));
      advanceClock(61 * second);
    }
    expect(minutes).toEqual([
      { 200: 20, 429: 2 },
      { 200: 20, 429: 2 },
    ]);
  });

  it('recordings are bounded by 20 MB together', async () => {
    const { phone, token } = await inCrisis(70);
    await sandbox.botMode('accept', phone);
    const send = async (size: number) => {
      const sent = await sendRecording(token, recordingOf('audio/webm', size));
      await untilDelivered(phone);
      return sent;
    };
    for (let count = 0; count < 10; count += 1) expect((await send(1_900_000)).status).toBe(200);
    const refused = await send(1_900_000);
    expect(refused).toMatchObject({
      status: 429,
      body: { code: 'rate_limited' },
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(80_000);
    expect((await send(900_000)).status).toBe(200);
    expect((await send(900_000)).status).toBe(429);
    advanceClock(61 * second);
    expect((await write(token, 'Still here')).status).toBe(200);
  });
});

it('a page that is looked at again and again asks a failing Stripe as seldom as the cron job', async () => {
  const { token } = await newSubscriber('basic');
  await buy(token);
  advanceClock(11 * second);
  let asked = 0;
  intercept(async (request, _, send) => {
    if (new URL(request.url).pathname.startsWith('/v1/')) asked += 1;
    return send(request);
  });
  const look = () => call('GET', '/api/user/me', { token, settings: {} });
  await during({ stripe: { status: 503 } }, async () => {
    for (let count = 0; count < 8; count += 1) await look();
    const before = asked;
    expect(before).toBeGreaterThan(0);
    for (let count = 0; count < 20; count += 1) await look();
    expect(asked).toBe(before);
  });
});

it('without a crisis five messages wait for the bot', async () => {
  advanceClock(0);
  const { phone, token } = await newSpeaker();
  await sandbox.botMode('silent', phone);
  const answers = [];
  for (let text = 0; text < 7; text += 1) answers.push(await write(token, `Text ${text}`));
  expect(tally(answers)).toEqual({ 200: 5, 429: 2 });
});
