import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../worker/lib/database.ts';
import { settingsOf } from '../../worker/settings.ts';
import { objectionMs } from '../../worker/withdrawal/withdrawal-right.ts';
import { dueStatements } from '../../worker/withdrawal/statements.ts';
import {
  call,
  cronAfter,
  newAddress,
  newNetwork,
  parallel,
  runCron,
  send,
  tally,
} from './support/api.ts';
import { advanceClock, day, eventually, minute } from './support/clock.ts';
import { buyer as buyerOf, buysFrom, orderPage, subscribe } from './support/buying.ts';
import {
  deleteAccount,
  exportOf,
  newPerson,
  planOf,
  trialSession,
  userOf,
  type Person,
} from './support/person.ts';
import { logLines } from './support/requests.ts';
import { deliveredEvents, during, run, sandbox } from './support/sandbox.ts';
import { advance, hour } from './support/stripe-events.ts';
import { customerOf, stripe, subscriptionOf } from './support/stripe.ts';
import { fullUnless } from '../long-tours.ts';

const path = '/api/billing/withdrawal';
const state = (body: object, address = newAddress()) =>
  call('POST', '/api/withdrawals', { body, address });

const order = { tier: 'basic' } as const;
const buys = (person: Person) => buysFrom(person, order);
const buyer = (startNow?: boolean) => buyerOf('basic', startNow);

async function statedFor(phone: string): Promise<string> {
  const { body } = await state({ name: 'Not Ada', contact: phone });
  return body.statement.id;
}

const isDue = (id: string, at = 0) => run('update withdrawals set due_at = ? where id = ?', at, id);

async function kept(id: string) {
  const { rows } = await run('select * from withdrawals where id = ?', id);
  return rows[0]!;
}

const openOf = (phone: string) =>
  run(
    `select state, reason, due_at from withdrawals
      where user_id = (select id from users where phone = ?) order by seq`,
    phone,
  );

async function toldTo(phone: string) {
  await runCron();
  const events = await deliveredEvents(phone);
  return events.filter(({ type }) => type === 'withdrawal.received');
}

it('a statement shows to nobody who has only a trial link', async () => {
  const { phone, token } = await newPerson();
  const id = await statedFor(phone);
  const shownTo = async (shown: string) =>
    (await call('GET', '/api/billing/subscription', { token: shown })).body;
  expect(await shownTo(token)).toMatchObject({ withdrawal: { id } });
  expect(await shownTo(await trialSession(phone))).toEqual({
    success: true,
    subscription: null,
  });
});

describe('many statements about one number', () => {
  const name = 'Visit evil.example';
  const stateAll = (contact: string, count: number) =>
    parallel(count, () => state({ name, contact, plan: name }, newAddress()));

  it('are all kept, and told once, in no words of a stranger; one objection stops them', async () => {
    const { phone, token, customer } = await buyer();
    const responses = await stateAll(phone, 5);
    expect(responses.map(({ status }) => status)).toEqual(Array(5).fill(200));
    expect((await openOf(phone)).rows).toHaveLength(5);
    const [told, ...more] = await toldTo(phone);
    expect(more).toEqual([]);
    expect(JSON.stringify(told)).not.toContain('evil.example');

    const { statement, receipt } = (await call('GET', path, { token })).body;
    expect(receipt).not.toContain('evil.example');
    const objection = { token, body: { id: statement.id } };
    expect((await call('POST', `${path}/objection`, objection)).status).toBe(200);
    const objected = {
      state: 'needs_owner',
      reason: 'objected',
      due_at: null,
    };
    expect((await openOf(phone)).rows).toMatchObject(responses.map(() => objected));
    expect((await call('GET', path, { token })).body).toMatchObject({ statement: null });
    expect((await subscriptionOf(customer)).status).toBe('active');
  });

  for (const status of [422, 503])
    it(
      `take no effect by silence while their person has not been told: the bot responds ${status}`,
      fullUnless(status === 422),
      async () => {
        const { phone, customer } = await buyer();
        await deliveredEvents(phone);
        const id = await during(
          {
            bot: {
              status,
              match: phone,
            },
          },
          async () => {
            const stated = await statedFor(phone);
            await cronAfter(minute);
            await cronAfter(objectionMs);
            return stated;
          },
        );
        expect(await kept(id)).toMatchObject({
          state: 'received',
          due_at: null,
          attempts: 0,
        });
        expect((await subscriptionOf(customer)).status).toBe('active');
      },
    );

  it('take effect by silence of a person who has been told', async () => {
    const { phone } = await buyer();
    const id = await statedFor(phone);
    expect(await toldTo(phone)).toHaveLength(1);
    await cronAfter(objectionMs);
    expect(await kept(id)).toMatchObject({ attempts: 1 });
  });

  it('take no effect by silence without a bot, which could tell nobody', async () => {
    const { phone } = await buyer();
    const settings = { BOT_WEBHOOK_URL: '' };
    const body = { name: 'Not Ada', contact: phone };
    const { statement } = (
      await call('POST', '/api/withdrawals', {
        body,
        settings,
      })
    ).body;
    expect(await kept(statement.id)).toMatchObject({
      state: 'received',
      due_at: null,
    });
  });

  it('are confirmed in no words of a stranger', async () => {
    const { phone, token } = await buyer();
    const stated = await state({ name, contact: phone, plan: name });
    expect(stated.body.receipt).toContain('evil.example');
    const { body } = await call('POST', path, { token });
    expect(body.statement).toMatchObject({
      id: stated.body.statement.id,
      state: 'done',
    });
    expect(body.receipt).toContain(phone);
    expect(body.receipt).not.toContain('evil.example');
    const shown = (await call('GET', path, { token })).body;
    expect(body.receipt).toBe(shown.receipt);
    expect((await call('POST', path, { token })).body.receipt).toBe(shown.receipt);
  });

  it('are told no more once their person has objected, and take no effect by themselves', async () => {
    const { phone, token } = await buyer();
    const body = { id: await statedFor(phone) };
    expect(
      (
        await call('POST', `${path}/objection`, {
          token,
          body,
        })
      ).status,
    ).toBe(200);
    const later = await statedFor(phone);
    expect(await toldTo(phone)).toHaveLength(1);
    expect(await kept(later)).toMatchObject({
      state: 'received',
      reason: null,
      due_at: null,
    });
    const confirmed = await call('POST', path, { token });
    expect(confirmed.body.statement).toMatchObject({
      id: later,
      state: 'done',
      refund: 1199,
    });
  });

  it('are shown by the one that takes effect, with its date; one that takes none is not shown', async () => {
    const { phone, token } = await buyer();
    const first = await statedFor(phone);
    await statedFor(phone);
    const shown = async () => (await call('GET', path, { token })).body;
    expect((await shown()).statement).toMatchObject({ id: first });
    await call('POST', `${path}/objection`, {
      token,
      body: { id: first },
    });
    await statedFor(phone);
    expect(await shown()).toMatchObject({
      statement: null,
      contract: { tier: 'basic' },
    });
    const account = await call('GET', '/api/billing/subscription', { token });
    expect(account.body).not.toHaveProperty('withdrawal.objectUntil');
  });

  it('are told again when no contract can be meant that the objection was about', async () => {
    const { phone, token } = await buyer();
    const first = await statedFor(phone);
    await call('POST', `${path}/objection`, {
      token,
      body: { id: first },
    });
    const settings = { WITHDRAWAL_DAYS: '1' };
    const stateLater = async (days: number) => {
      advanceClock(days * day);
      const body = { name: 'Not Ada', contact: phone };
      const made = await call('POST', '/api/withdrawals', {
        body,
        settings,
      });
      return kept(made.body.statement.id);
    };
    expect(await stateLater(2.9)).toMatchObject({ due_at: null });
    expect(await stateLater(0.2)).toMatchObject({ due_at: expect.any(Number) });
  });

  it('are told three times a day at most; what is not told takes no effect by itself', async () => {
    const { phone } = await newPerson();
    for (let made = 0; made < 3; made += 1) {
      const id = await statedFor(phone);
      await isDue(id);
      await runCron();
      expect(await kept(id)).toMatchObject({
        state: 'needs_owner',
        reason: 'customer_unknown',
      });
    }
    await statedFor(phone);
    expect(await toldTo(phone)).toHaveLength(3);
    const { rows } = await openOf(phone);
    expect(rows.at(-1)).toMatchObject({
      state: 'received',
      due_at: null,
    });
  });

  it('are one, once the contract has ended', async () => {
    const { phone, token } = await buyer();
    const first = await statedFor(phone);
    const second = await statedFor(phone);
    await isDue(first);
    await runCron();
    expect(await kept(first)).toMatchObject({
      state: 'done',
      refund: 1199,
    });
    expect(await kept(second)).toMatchObject({
      state: 'done',
      reason: 'repeated',
      refund: 0,
    });
    const { statement } = (await call('GET', path, { token })).body;
    expect(statement).toMatchObject({
      id: first,
      state: 'done',
      refund: 1199,
    });

    // The daily look at the first refund leaves a statement about another contract alone.
    const later = await statedFor(phone);
    await isDue(first);
    await runCron();
    expect(await kept(later)).toMatchObject({
      state: 'received',
      reason: null,
    });
  });

  it.each([
    ['Ada\nYou get back: $1,000', 'Ada You get back: $1,000'],
    ['Ada\u2028Lovelace', 'Ada Lovelace'],
    ['\u0000Ada', 'Ada'],
    ['Ada \u202ecba\u202c', 'Ada cba'],
  ])('say one thing on a line, and are not refused for it: %j', async (text, said) => {
    const contact = 'ada@example.com';
    const { status, body } = await state({
      name: text,
      contact,
      plan: text,
    });
    expect(status).toBe(200);
    expect(await kept(body.statement.id)).toMatchObject({
      name: said,
      plan: said,
      contact,
    });
    const lines = body.receipt.split('\n');
    expect(lines).toEqual(expect.arrayContaining([`Name: ${said}`, `Contract: ${said}`]));
  });

  it.each(['\ud800\ud800\ud800', '\u200b\u2060\u200b', '\u2800\u2800\u2800', '\ud800\u200b\ufffd'])(
    'are refused where nothing of a name or a contact can be seen: %j',
    async (unseen) => {
      for (const field of ['name', 'contact']) {
        const stated = {
          name: 'Ada Lovelace',
          contact: 'ada@example.com',
          [field]: unseen,
        };
        const { status, body } = await state(stated);
        expect(status).toBe(400);
        const message = `${field} must have something that can be read`;
        const issues = [{ path: field, message }];
        expect(body).toMatchObject({
          code: 'invalid_field',
          message,
          issues,
        });
      }
    },
  );

  it('say nothing of how many there are', async () => {
    const { token } = await buyer();
    const { receipt, statement } = (await call('POST', path, { token })).body;
    const link = new URL(/https?:\S+$/.exec(receipt)![0]);
    const file = await send(link.pathname + link.search);
    const name = `withdrawal-${statement.submittedAt.slice(0, 10)}.txt`;
    const attached = `attachment; filename="${name}"`;
    expect(file.headers.get('content-disposition')).toBe(attached);
    const { body } = await exportOf(token);
    expect(body.withdrawals[0]).not.toHaveProperty('seq');
    expect(body.purchaseChoices[0]).not.toHaveProperty('seq');
  });

  it('are objected to by an id that is one', async () => {
    const { token } = await newPerson();
    const object = (id: string) =>
      call('POST', `${path}/objection`, {
        token,
        body: { id },
      });
    const issues = [{ path: 'id' }];
    for (const id of ['\ud800', 'x\udc00'])
      expect(await object(id)).toMatchObject({
        status: 400,
        body: { issues },
      });
    expect((await object('x'.repeat(10_000))).status).toBe(404);
  });

  const spellings: [spelling: string, of: (phone: string) => string][] = [
    ['with separators', (phone) => phone.replace(/^\+1(\d{3})(\d{3})/, '+1 ($1) $2-')],
    ['with marks of direction', (phone) => `\u202a${phone}\u202c`],
    ['with two zeros', (phone) => phone.replace('+', '00')],
    ['as a link', (phone) => `tel:${phone}`],
    ['among words', (phone) => `my number is ${phone}.`],
  ];
  it.each(spellings)('find the account of a number %s', async (_, of) => {
    const { phone, token } = await newPerson();
    const { body } = await state({
      name: 'Ada Lovelace',
      contact: of(phone),
    });
    expect(await kept(body.statement.id)).toMatchObject({ user_id: userOf(token) });
  });

  it('find no account by digits in an e-mail address', async () => {
    const { phone } = await newPerson();
    const contact = `ada${phone}@example.com`;
    const { body } = await state({ name: 'Ada Lovelace', contact });
    expect(await kept(body.statement.id)).toMatchObject({
      user_id: null,
      contact,
    });
  });
});

describe('statements of nobody whom we know', () => {
  const nobody = { name: 'Nobody', contact: 'nobody@example.com' };

  it('are limited by network, also where each comes from an address of its own', async () => {
    const network = newNetwork();
    const settings = { LIMIT_STATEMENTS_PER_ADDRESS: '2/1h' };
    const stateFrom = (index: number) => {
      const address = `${network}:${index.toString(16)}::1`;
      return call('POST', '/api/withdrawals', {
        body: nobody,
        address,
        settings,
      });
    };
    const responses = await parallel(14, stateFrom);
    expect(tally(responses)).toEqual({ 200: 10, 429: 4 });
    const elsewhere = {
      body: nobody,
      address: `${newNetwork()}::1`,
      settings,
    };
    expect((await call('POST', '/api/withdrawals', elsewhere)).status).toBe(200);
  });

  it('are left to the owner at once: the cron job has no work with them', async () => {
    const { status, body } = await state(nobody);
    const { id } = body.statement;
    expect(status).toBe(200);
    expect(body.statement).toMatchObject({
      state: 'received',
      refund: null,
    });
    const ofOwner = {
      state: 'needs_owner',
      reason: 'account_unknown',
      due_at: null,
      attempts: 0,
    };
    expect(await kept(id)).toMatchObject(ofOwner);
    await runCron();
    expect(await kept(id)).toMatchObject(ofOwner);
    const reported = logLines('withdrawal_needs_owner').filter((line) => line['id'] === id);
    expect(reported).toMatchObject([{ level: 'error', reason: 'account_unknown' }]);
  });

  it('wait behind those of people who have signed in, whenever they were due', async () => {
    const { phone, token } = await buyer();
    const other = await buyer();
    const stranger = await statedFor(phone);
    const { body } = await during({ stripe: { status: 500 } }, () =>
      call('POST', path, { token: other.token }),
    );
    const own = body.statement.id;
    await isDue(stranger, 1);
    await isDue(own, 2);
    const db = openDatabase(settingsOf(env)!, {
      requests: 0,
      unreachable: false,
    });
    const due = await dueStatements(db, Date.now(), 1000);
    const places = [own, stranger].map((id) => due.findIndex((each) => each.id === id));
    expect(places.every((place) => place >= 0)).toBe(true);
    expect(places[0]).toBeLessThan(places[1]!);
    expect((await call('POST', path, { token })).body.statement).toMatchObject({ state: 'done' });
  });

  it('are deleted when their time has passed, and not before', async () => {
    const insert = async (keptUntil: number) => {
      const id = crypto.randomUUID();
      await run(
        `insert into withdrawals
           (seq, id, origin, contact, language, submitted_at, kept_until, receipt, state)
           select coalesce(min(seq), 1) - 1, ?, 'public', 'x@example.com', 'en', 0, ?, '', 'needs_owner'
           from withdrawals`,
        id,
        keptUntil,
      );
      return id;
    };
    const recent = await insert(Date.now() + day);
    const old = await insert(Date.now() - day);
    await runCron();
    const { rows } = await run('select id from withdrawals where id in (?, ?)', recent, old);
    expect(rows).toMatchObject([{ id: recent }]);
  });
});

describe('a statement that somebody else has made', () => {
  it('stops at an objection, also while the cron job has read it already', async () => {
    const other = await buyer();
    const { phone, token, customer } = await buyer();
    const [first, id] = [await statedFor(other.phone), await statedFor(phone)];
    await isDue(first, 1);
    await isDue(id, 2);
    await sandbox.faults({
      stripe: {
        hold: true,
        match: other.customer,
      },
    });
    const job = runCron();
    await eventually(async () => expect(await sandbox.heldBy(other.customer)).toBe(1));
    const objection = await call('POST', `${path}/objection`, {
      token,
      body: { id },
    });
    await sandbox.faults({ stripe: null });
    await job;
    expect(objection.status).toBe(200);
    expect(await kept(first)).toMatchObject({ state: 'done' });
    expect(await kept(id)).toMatchObject({
      state: 'needs_owner',
      reason: 'objected',
      refund: null,
      due_at: null,
    });
    expect((await subscriptionOf(customer)).status).toBe('active');
    expect(await planOf(token)).toEqual(['basic', 'active']);
  });

  it('ends no contract that was concluded after it, and its person can still withdraw', async () => {
    const person = await newPerson();
    const id = await statedFor(person.phone);
    const { token, customer } = await buys(person);
    await isDue(id);
    await runCron();
    expect(await kept(id)).toMatchObject({
      state: 'needs_owner',
      reason: 'no_contract',
      subscription: null,
    });
    expect((await subscriptionOf(customer)).status).toBe('active');
    expect(await planOf(token)).toEqual(['basic', 'active']);
    const { body } = await call('POST', path, { token });
    expect(body.statement).toMatchObject({ state: 'done', refund: 1199 });
  });

  it("stands in the export without the address, which may be a stranger's", async () => {
    const { phone, token } = await buyer();
    await state({
      name: 'Not Ada',
      contact: phone,
      email: 'stranger@example.com',
    });
    await call('POST', path, {
      token,
      body: { email: 'ada@example.com' },
    });
    await buys({ phone, token });
    await call('POST', path, {
      token,
      body: { email: 'ada@example.com' },
    });
    const { body, text } = await exportOf(token);
    const addresses = body.withdrawals.map(({ email }: { email?: string }) => email);
    expect(addresses.toSorted()).toEqual(['ada@example.com', undefined]);
    expect(text).not.toContain('stranger@example.com');
  });

  it('has a receipt that tells nothing of the account, also after it took effect', async () => {
    const { phone } = await buyer();
    const { body } = await state({ name: 'Not Ada', contact: phone });
    await isDue(body.statement.id);
    await runCron();
    expect(await kept(body.statement.id)).toMatchObject({
      state: 'done',
      tier: 'basic',
    });
    const link = new URL(/https?:\S+receipt\?key=\S+/.exec(body.receipt)![0]);
    const file = await send(link.pathname + link.search);
    expect(file.status).toBe(200);
    expect(await file.text()).toBe(`${body.receipt}\n`);
  });

  it('does not stand in for the statement of somebody who bought after it', async () => {
    const person = await newPerson();
    const id = await statedFor(person.phone);
    const { token } = await buys(person);
    const { body } = await call('POST', path, { token });
    expect(body.statement).toMatchObject({ state: 'done', refund: 1199 });
    expect(body.statement.id).not.toBe(id);
  });
});

it('an interrupted withdrawal goes on with its own contract, not with one bought since', async () => {
  const person = await buyer();
  const id = await statedFor(person.phone);
  await isDue(id);
  await during(
    {
      stripe: {
        status: 500,
        path: '/v1/credit_notes',
      },
    },
    () => runCron(),
  );
  const begun = await subscriptionOf(person.customer);
  expect(begun.status).toBe('canceled');
  expect(await kept(id)).toMatchObject({
    state: 'received',
    subscription: begun.id,
  });
  const objection = { token: person.token, body: { id } };
  expect((await call('POST', `${path}/objection`, objection)).status).toBe(404);
  await run('update customers set lease_until = 0 where stripe_id = ?', person.customer);
  await buys(person);
  await isDue(id);
  await runCron();
  expect(await kept(id)).toMatchObject({
    state: 'done',
    subscription: begun.id,
    refund: 1199,
  });
  expect((await subscriptionOf(person.customer)).status).toBe('active');
  expect(await planOf(person.token)).toEqual(['basic', 'active']);
});

it('a deletion leaves a settled withdrawal as it is', async () => {
  const { token } = await buyer();
  const { body } = await call('POST', path, { token });
  expect((await deleteAccount(token)).status).toBe(200);
  await isDue(body.statement.id);
  await runCron();
  const settled = {
    state: 'done',
    reason: null,
    refund: 1199,
    due_at: null,
  };
  expect(await kept(body.statement.id)).toMatchObject(settled);
});

it('a choice made after the purchase changes nothing of its contract', async () => {
  const { phone, token, customer } = await buyer(true);
  await advance(phone, 84 * hour);
  await orderPage(token, { ...order, startNow: false });
  expect((await subscriptionOf(customer)).metadata).toMatchObject({ start_now_basic: 'yes' });
  const { contract } = (await call('GET', path, { token })).body;
  expect(contract).toMatchObject({ startNow: true, paid: 1199 });
  expect(contract.refund).toBeLessThanOrEqual(600);
});

it('a session that a trial link has opened notes no choice for the plan after the trial', async () => {
  const person = await newPerson();
  const limited = await trialSession(person.phone, {
    tier: 'premium',
    days: 3,
  });
  await buys(person);
  const customer = await customerOf(person.phone);
  const notes = async () => (await subscriptionOf(customer)).metadata;
  const dearer = { tier: 'premium', startNow: true } as const;
  expect(await orderPage(limited, dearer)).toContain('http');
  expect(await notes()).not.toHaveProperty('start_now_premium');
  await orderPage(person.token, dearer);
  expect(await notes()).toMatchObject({ start_now_premium: expect.stringContaining('yes') });
});

it('a session that a trial link has opened notes no choice for what somebody pays for', async () => {
  const person = await newPerson();
  const limited = await trialSession(person.phone, {
    tier: 'premium',
    days: 1,
  });
  await subscribe(person.token, 'basic');
  await advance(person.phone, 48 * hour);
  const body = { tier: 'premium', startNow: true };
  const page = '/api/billing/create-subscription-update-session';
  const refused = await call('POST', page, { token: limited, body });
  expect(refused).toMatchObject({
    status: 403,
    body: { code: 'sign_in_needed' },
  });
  const { status, metadata } = await subscriptionOf(await customerOf(person.phone));
  expect(status).toBe('active');
  expect(metadata).not.toHaveProperty('start_now_premium');
});

it('reading a contract and withdrawing are limited, each by itself', async () => {
  const { token } = await buyer();
  /** As if the call had been made as often as the limit allows. */
  const useUp = (subject: string) =>
    run(
      `insert into rate_limit_events (subject, at, by)
        select ?, ?, 'test' || value from json_each(?)`,
      `${subject}:${userOf(token)}`,
      Date.now(),
      JSON.stringify(Array.from({ length: 120 }, (_, index) => index)),
    );
  await useUp('billing-calls');
  const refused = await call('GET', path, { token });
  expect(refused).toMatchObject({
    status: 429,
    body: { code: 'rate_limited' },
  });
  expect(refused.headers.get('retry-after')).toBeTruthy();
  expect((await call('POST', path, { token })).body.statement).toMatchObject({ state: 'done' });
  await useUp('withdrawals');
  expect((await call('POST', path, { token })).status).toBe(429);
});

describe('a customer that somebody has given to another account by hand', () => {
  async function stolen() {
    const victim = await buyer();
    const thief = await newPerson();
    const given = 'update customers set user_id = ? where stripe_id = ?';
    await run(given, userOf(thief.token), victim.customer);
    return { ...victim, thief: thief.token };
  }

  it.each([
    ['GET', path],
    ['POST', path],
    ['POST', '/api/billing/cancel'],
    ['POST', '/api/billing/resume'],
    ['POST', '/api/billing/create-subscription-update-session'],
    ['POST', '/api/billing/create-portal-session'],
  ])('does nothing for them: %s %s', async (method, route) => {
    const { customer, thief: token } = await stolen();
    const answer = await call(method, route, { token });
    expect(answer.status).toBe(503);
    const left = await subscriptionOf(customer);
    expect(left).toMatchObject({
      status: 'active',
      cancel_at_period_end: false,
    });
    expect(await planOf(token)).toEqual(['free', 'active']);
  });

  it('gives them no plan by an event, and outlives their account', async () => {
    const { customer, thief: token } = await stolen();
    await run('update customers set due_at = 0 where stripe_id = ?', customer);
    await runCron();
    expect(await planOf(token)).toEqual(['free', 'active']);
    await run('update customers set lease_until = 0 where stripe_id = ?', customer);
    expect((await deleteAccount(token)).status).toBe(200);
    await runCron();
    expect((await subscriptionOf(customer)).status).toBe('active');
    expect(await stripe.customers.retrieve(customer)).not.toHaveProperty('deleted');
  });
});
