import { describe, expect, it } from 'vitest';
import { call, parallel, runCron, send } from './support/api.ts';
import { buyer, subscribe, switchPlan, withdraw } from './support/buying.ts';
import { deleteAccount, exportOf, newPerson, planOf, trialSession } from './support/person.ts';
import { costOf } from './support/requests.ts';
import { deliveredEvents, during, run, sandbox } from './support/sandbox.ts';
import { advance, deliver, hour, week } from './support/stripe-events.ts';
import { env } from 'cloudflare:workers';
import { openDatabase } from '../../worker/lib/database.ts';
import { settingsOf } from '../../worker/settings.ts';
import { overdueStatements } from '../../worker/withdrawal/statements.ts';
import { objectionMs } from '../../worker/withdrawal/withdrawal-right.ts';
import { customerOf, paymentsOf, stripe, subscriptionOf, refundsOf } from './support/stripe.ts';

const day = 24 * hour;
const path = '/api/billing/withdrawal';
const read = async (token: string) => (await call('GET', path, { token })).body;

/** Such as "December 1, 2026 at 09:05:00 UTC". */
function inWords(iso: string): string {
  const date = new Date(iso);
  const written = date.toLocaleDateString('en', {
    dateStyle: 'long',
    timeZone: 'UTC',
  });
  return `${written} at ${iso.slice(11, 19)} UTC`;
}

describe('a statement gives back', () => {
  it('everything, where nobody asked to start at once', async () => {
    const { phone, token, customer } = await buyer('basic');
    await advance(phone, 3 * day);
    const { contract } = await read(token);
    expect(contract).toMatchObject({
      tier: 'basic',
      startNow: false,
      paid: 1199,
      refund: 1199,
      currency: 'usd',
    });
    const response = await withdraw(token);
    const { status, body } = response;
    expect(status).toBe(200);
    expect(costOf(response)).toBeLessThanOrEqual(6);
    expect(body.statement).toMatchObject({ state: 'done', refund: 1199 });
    expect(await refundsOf(customer)).toEqual([1199]);
    expect((await subscriptionOf(customer)).status).toBe('canceled');
    expect(await planOf(token)).toEqual(['free', 'active']);
  });

  it('the unused time, where the buyer asked to start at once', async () => {
    const { phone, token, customer } = await buyer('basic', true);
    await advance(phone, 2 * day + 12 * hour);
    const { contract } = await read(token);
    const { body } = await withdraw(token);
    expect(contract).toMatchObject({ startNow: true, paid: 1199 });
    // The seconds between the two calls cost less than a cent.
    expect(Math.abs(contract.refund - body.statement.refund)).toBeLessThanOrEqual(1);
    expect(body.statement.refund).toBeGreaterThanOrEqual(770);
    expect(body.statement.refund).toBeLessThanOrEqual(771);
    expect(await refundsOf(customer)).toEqual([body.statement.refund]);
  });

  it('all weeks since the contract was concluded, of which a renewal is none', async () => {
    const { phone, token, customer } = await buyer('premium');
    await advance(phone, week + 2 * hour);
    expect(await paymentsOf(customer)).toEqual([2999, 2999]);
    expect((await read(token)).contract).toMatchObject({
      paid: 5998,
      refund: 5998,
    });
    await withdraw(token);
    expect(await refundsOf(customer)).toEqual([2999, 2999]);
  });

  it('what a move to a dearer plan has cost, since that is a contract of its own', async () => {
    const { phone, token, customer } = await buyer('basic', true);
    await advance(phone, day);
    await switchPlan(token, 'premium');
    await deliver(customer);
    const [upgrade] = await paymentsOf(customer);
    const { contract } = await read(token);
    expect(contract).toMatchObject({
      tier: 'premium',
      startNow: false,
      paid: upgrade,
      refund: upgrade,
    });
    await withdraw(token);
    expect(await refundsOf(customer)).toEqual([upgrade]);
    expect(await planOf(token)).toEqual(['free', 'active']);
  });

  it('to the balance what was paid from it, and nothing that was credited before', async () => {
    const { phone, token, customer } = await buyer('basic');
    const [first] = (await stripe.invoices.list({ customer })).data;
    const credit = { amount: 500, credit_amount: 500 };
    await stripe.creditNotes.create({ invoice: first!.id, ...credit });
    await advance(phone, week + 2 * hour);
    expect(await paymentsOf(customer)).toEqual([699, 1199]);
    const balance = async () => {
      const found = await stripe.customers.retrieve(customer);
      return found.deleted ? null : found.balance;
    };
    expect(await balance()).toBe(0);
    expect((await read(token)).contract).toMatchObject({
      paid: 1898,
      refund: 1398,
    });
    const { body } = await withdraw(token);
    expect(body.statement).toMatchObject({ state: 'done', refund: 1398 });
    expect(await balance()).toBe(-500);
    expect(new Set(await refundsOf(customer))).toEqual(new Set([500, 699, 1199]));
  });

  it('nothing for a plan that waits for the end of a trial, which then never begins', async () => {
    const person = await newPerson();
    await trialSession(person.phone, { tier: 'premium', days: 3 });
    await subscribe(person.token, 'basic');
    expect((await read(person.token)).contract).toMatchObject({
      tier: 'basic',
      paid: 0,
      refund: 0,
    });
    expect((await withdraw(person.token)).body.statement).toMatchObject({
      state: 'done',
      refund: 0,
    });
    const customer = await customerOf(person.phone);
    await advance(person.phone, 5 * day);
    expect(await paymentsOf(customer)).toEqual([]);
  });
});

describe('a contract can be withdrawn', () => {
  it('until the end of the last day in UTC-12, by the clock that bills', async () => {
    const { phone, token } = await buyer('basic');
    const { contract } = await read(token);
    const until = Date.parse(contract.withdrawableUntil);
    expect(until % (day * 1000)).toBe(12 * hour * 1000);
    const left = Math.floor((until - Date.parse(contract.concludedAt)) / 1000);
    expect(left).toBeGreaterThan(14 * day);
    await sandbox.advanceStripe(phone, left - hour);
    expect((await read(token)).contract).not.toBeNull();
    await sandbox.advanceStripe(phone, 2 * hour);
    expect((await read(token)).contract).toBeNull();
    expect((await withdraw(token)).body).toMatchObject({ code: 'conflict' });
  });

  it('when its plan was cancelled, also after its end', async () => {
    const { phone, token, customer } = await buyer('basic');
    await call('POST', '/api/billing/cancel', { token });
    await advance(phone, 8 * day);
    expect((await subscriptionOf(customer)).status).toBe('canceled');
    expect((await withdraw(token)).body.statement).toMatchObject({
      refund: 1199,
      state: 'done',
    });
  });

  it('only by somebody who has bought something', async () => {
    const { token } = await newPerson();
    expect(await read(token)).toEqual({
      success: true,
      contract: null,
      statement: null,
    });
    expect(await withdraw(token)).toMatchObject({
      status: 409,
      body: { code: 'conflict' },
    });
  });

  it('never, where the owner has turned it off', async () => {
    const { token, customer } = await buyer('basic', true);
    const body = { name: 'Ada Lovelace', contact: 'ada@example.com' };
    const { statement, receipt } = (await call('POST', '/api/withdrawals', { body })).body;
    const link = new URL(/https?:\S+receipt\?key=\S+/.exec(receipt)![0]);
    const ways: [method: string, path: string, body?: object][] = [
      ['GET', path],
      ['POST', path],
      ['POST', `${path}/objection`, { id: statement.id }],
      ['GET', '/api/withdrawals'],
      ['POST', '/api/withdrawals', body],
      ['GET', link.pathname + link.search],
    ];
    const settings = { WITHDRAWAL_DAYS: '0' };
    for (const [method, way, sent] of ways) {
      const off = await call(method, way, {
        token,
        settings,
        ...(sent && { body: sent }),
      });
      expect(off, `${method} ${way}`).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      });
    }
    const shown = await call('GET', '/api/billing/subscription', {
      token,
      settings,
    });
    expect(shown.body).not.toHaveProperty('withdrawal');
    expect((await subscriptionOf(customer)).status).toBe('active');
  });

  it.each([1, 30])('for as many days as the owner sets: %i', async (days) => {
    const { token } = await buyer('basic');
    const settings = { WITHDRAWAL_DAYS: String(days) };
    const { contract } = (
      await call('GET', path, {
        token,
        settings,
      })
    ).body;
    const lasts = Date.parse(contract.withdrawableUntil) - Date.parse(contract.concludedAt);
    expect(Math.floor(lasts / (day * 1000))).toBe(days + 1);
  });
});

describe('a statement', () => {
  it('is one, however often and by how many it is made', async () => {
    const { token, customer } = await buyer('basic');
    const responses = await parallel(5, () => withdraw(token));
    const kept = responses.filter(({ status }) => status === 200);
    expect(new Set(kept.map(({ body }) => body.statement.id)).size).toBe(1);
    expect(responses.every(({ status }) => status === 200 || status === 503)).toBe(true);
    const again = await withdraw(token);
    expect(again.body.receipt).toBe(kept[0]!.body.receipt);
    expect(await refundsOf(customer)).toEqual([1199]);
  });

  it('has a receipt with its content, date and time, which a link gives as a file', async () => {
    const { phone, token } = await buyer('basic');
    const { body } = await withdraw(token, { email: 'ada@example.com' });
    const { id, submittedAt } = body.statement;
    expect(body.receipt).toContain(`Received: ${inWords(submittedAt)}`);
    expect(body.receipt).toContain('Solace Basic');
    expect(body.receipt).toContain('$11.99');
    expect(body.receipt).toContain(phone);
    const link = new URL(/https?:\S+$/.exec(body.receipt)![0]);
    expect(link.pathname).toBe(`/api/withdrawals/${id}/receipt`);
    const file = await send(link.pathname + link.search);
    expect(await file.text()).toBe(`${body.receipt}\n`);
    const wrong = await call('GET', `${link.pathname}?key=${'0'.repeat(64)}`);
    expect(wrong).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
  });

  it.each([
    ['es', /^Recibido: \d+ de \p{L}+ de \d{4} a las [\d:]+ UTC$/mu],
    ['pt-BR', /^Recebido: \d+ de \p{L}+ de \d{4} às [\d:]+ UTC$/mu],
  ])('has a receipt with the date in its language: %s', async (language, received) => {
    const body = { name: 'Ada Lovelace', contact: 'ada@example.com' };
    const headers = { 'accept-language': language };
    const made = await call('POST', '/api/withdrawals', {
      body,
      headers,
    });
    expect(made.body.receipt).toMatch(received);
  });

  it('is told to the bot, and again when the money is on its way', async () => {
    const { phone, token } = await buyer('basic');
    const { body } = await withdraw(token);
    const all = await deliveredEvents(phone);
    const events = all.filter(({ type }) => type.startsWith('withdrawal.'));
    expect(events).toMatchObject([
      {
        type: 'withdrawal.received',
        data: { phone, receipt: expect.stringContaining('Solace Basic') },
      },
      {
        type: 'withdrawal.refunded',
        data: {
          phone,
          amount: body.statement.refund,
          currency: 'usd',
        },
      },
    ]);
  });

  it('cannot be changed or deleted, nor can what was chosen before the purchase', async () => {
    const { token, customer } = await buyer('basic', true);
    const { body } = await withdraw(token);
    const { id } = body.statement;
    await expect(run('update withdrawals set contact = ? where id = ?', 'x', id)).rejects.toThrow();
    await expect(run('delete from withdrawals where id = ?', id)).rejects.toThrow();
    const own = 'user_id = (select user_id from customers where stripe_id = ?)';
    const change = `update purchase_choices set start_now = 0 where ${own}`;
    await expect(run(change, customer)).rejects.toThrow();
  });

  it('stands in the export, and outlives the account', async () => {
    const { token } = await buyer('basic', true);
    const { body } = await withdraw(token);
    const exported = (await exportOf(token)).body;
    expect(exported.withdrawals).toMatchObject([{ id: body.statement.id, receipt: body.receipt }]);
    expect(exported.purchaseChoices).toMatchObject([{ tier: 'basic', startNow: true }]);
    expect((await deleteAccount(token)).status).toBe(200);
    const { rows } = await run('select state from withdrawals where id = ?', body.statement.id);
    expect(rows[0]).toMatchObject({ state: 'done' });
  });
});

describe('when something fails', () => {
  const full = { tags: ['full'] };

  it('a statement counts while Stripe does not respond, and the rest follows', full, async () => {
    const { phone, token, customer } = await buyer('basic');
    const { body } = await during({ stripe: { status: 500 } }, () => withdraw(token));
    expect(body.statement).toMatchObject({ state: 'received' });
    await run('update withdrawals set due_at = 0 where id = ?', body.statement.id);
    await run('update customers set lease_until = 0 where stripe_id = ?', customer);
    await runCron();
    expect((await read(token)).statement).toMatchObject({
      id: body.statement.id,
      state: 'done',
      refund: 1199,
    });
    expect(await refundsOf(customer)).toEqual([1199]);
    expect(phone).toBeTruthy();
  });

  it('a deletion first pays back what was stated before', async () => {
    const { token, customer } = await buyer('basic');
    const { body } = await during({ stripe: { status: 500 } }, () => withdraw(token));
    await run('update customers set lease_until = 0 where stripe_id = ?', customer);
    expect((await deleteAccount(token)).status).toBe(200);
    expect(await refundsOf(customer)).toEqual([1199]);
    const { rows } = await run('select state from withdrawals where id = ?', body.statement.id);
    expect(rows[0]).toMatchObject({ state: 'done' });
  });

  it('what was stated is shown with its receipt, and its contract is not offered again', async () => {
    const { token, customer } = await buyer('basic');
    const { body, shown } = await during({ stripe: { status: 500 } }, async () => {
      const stated = await withdraw(token);
      return { body: stated.body, shown: await read(token) };
    });
    const received = {
      contract: null,
      statement: body.statement,
      receipt: body.receipt,
    };
    expect(shown).toMatchObject(received);
    expect(await read(token)).toMatchObject(received);
    await run('update customers set lease_until = 0 where stripe_id = ?', customer);
    await run('update withdrawals set due_at = 0 where id = ?', body.statement.id);
    await runCron();
    expect((await read(token)).statement).toMatchObject({ state: 'done', refund: 1199 });
    expect(await refundsOf(customer)).toEqual([1199]);
    await subscribe(token, 'premium');
    expect((await read(token)).contract).toMatchObject({
      tier: 'premium',
      refund: 2999,
    });
  });

  it('a response of Stripe that was lost doubles no refund', full, async () => {
    const { token, customer } = await buyer('basic');
    const fault = {
      stripe: {
        cut: true,
        match: 'email_type',
      },
    } as const;
    const { body } = await during(fault, () => withdraw(token));
    await run('update withdrawals set due_at = 0 where id = ?', body.statement.id);
    await runCron();
    expect((await read(token)).statement).toMatchObject({
      state: 'done',
      refund: 1199,
    });
    expect(await refundsOf(customer)).toEqual([1199]);
  });

  it.each([
    ['refused', 'charge_not_refundable'],
    ['asks', 'refund_requires_action'],
  ])('a payment method that is "%s" leaves the money to the owner', async (outcome, reason) => {
    const { phone, token, customer } = await buyer('basic');
    await sandbox.refunds(phone, outcome);
    expect((await withdraw(token)).body.statement).toMatchObject({ state: 'needs_owner' });
    const { rows } = await run('select reason from withdrawals order by seq desc limit 1');
    expect(rows[0]).toMatchObject({ reason });
    expect((await subscriptionOf(customer)).status).toBe('canceled');
  });

  it('a refund that the bank sends back is left to the owner', async () => {
    const person = await newPerson();
    await subscribe(person.token, 'basic', { card: '4000000000005126' });
    const { body } = await withdraw(person.token);
    expect(body.statement).toMatchObject({ state: 'done' });
    await advance(person.phone, 2 * day);
    await runCron();
    expect((await read(person.token)).statement).toMatchObject({ state: 'needs_owner' });
  });

  it('a renewal that could not be paid is collected no more, and what was paid comes back', async () => {
    const { phone, token, customer } = await buyer('basic');
    await sandbox.card(phone, true);
    await advance(phone, week + 2 * hour);
    expect((await subscriptionOf(customer)).status).toBe('past_due');
    expect((await withdraw(token)).body.statement).toMatchObject({
      state: 'done',
      refund: 1199,
    });
    await sandbox.card(phone, false);
    await advance(phone, 3 * week);
    expect(await paymentsOf(customer)).toEqual([1199]);
    expect(await refundsOf(customer)).toEqual([1199]);
  });

  it('a disputed payment is not paid back twice', async () => {
    const { phone, token, customer } = await buyer('basic');
    await sandbox.dispute(phone);
    expect((await withdraw(token)).body.statement).toMatchObject({ state: 'needs_owner' });
    expect(await refundsOf(customer)).toEqual([]);
  });
});

describe('the form for everybody', () => {
  const state = (body: object, address?: string) =>
    call('POST', '/api/withdrawals', {
      body,
      ...(address && { headers: { 'cf-connecting-ip': address } }),
    });

  it('responds the same whether or not a number belongs to an account', async () => {
    const { phone, token, customer } = await buyer('basic');
    const known = await state({
      name: 'Ada Lovelace',
      contact: phone,
      plan: 'Basic',
    });
    const unknown = await state({
      name: 'Ada Lovelace',
      contact: '+15559990000',
      plan: 'Basic',
    });
    const shape = ({ status, body }: typeof known) => [
      status,
      Object.keys(body),
      Object.keys(body.statement),
      body.statement.state,
      body.statement.refund,
    ];
    expect(shape(known)).toEqual(shape(unknown));
    expect(shape(known)).toEqual([
      200,
      ['success', 'statement', 'receipt', 'mail'],
      ['id', 'submittedAt', 'state', 'refund'],
      'received',
      null,
    ]);
    await runCron();
    const { rows } = await run(
      'select state, reason from withdrawals where id = ?',
      unknown.body.statement.id,
    );
    expect(rows[0]).toMatchObject({
      state: 'needs_owner',
      reason: 'account_unknown',
    });

    // The owner of the number is told, and the plan stays until the statement takes effect.
    const { statement, receipt } = await read(token);
    expect(statement).toMatchObject({
      id: known.body.statement.id,
      state: 'received',
    });
    const waits = Date.parse(statement.objectUntil) - Date.parse(statement.submittedAt);
    expect(waits).toBe(objectionMs);
    expect(receipt).toContain(`takes effect on ${inWords(statement.objectUntil)}.`);
    expect(receipt).toContain('/withdraw');
    const shown = await call('GET', '/api/billing/subscription', { token });
    expect(shown.body.withdrawal).toEqual(statement);
    expect(costOf(shown)).toBe(1);
    const events = (await deliveredEvents(phone)).filter(({ type }) => type.startsWith('withdr'));
    expect(events).toMatchObject([{ type: 'withdrawal.received', data: { receipt } }]);
    expect(await planOf(token)).toEqual(['basic', 'active']);
    expect(await refundsOf(customer)).toEqual([]);
  });

  it('takes effect by itself when the time to object is over', async () => {
    const { phone, token, customer } = await buyer('basic');
    const { body } = await state({
      name: 'Ada Lovelace',
      contact: phone,
    });
    await run('update withdrawals set due_at = 0 where id = ?', body.statement.id);
    await runCron();
    expect(await read(token)).toMatchObject({
      contract: null,
      statement: {
        id: body.statement.id,
        state: 'done',
        refund: 1199,
      },
    });
    expect(await refundsOf(customer)).toEqual([1199]);
    expect(await planOf(token)).toEqual(['free', 'active']);
  });

  it('takes effect at once when its person confirms it, by the time at which it was made', async () => {
    const { phone, token, customer } = await buyer('basic');
    const first = await state({ name: 'Ada Lovelace', contact: phone });
    const responses = await parallel(3, () => withdraw(token));
    const kept = responses.filter(({ status }) => status === 200);
    expect(new Set(kept.map(({ body }) => body.statement.id))).toEqual(
      new Set([first.body.statement.id]),
    );
    expect((await read(token)).statement).not.toHaveProperty('objectUntil');
    expect(await refundsOf(customer)).toEqual([1199]);
  });

  it(
    'takes effect once its person has confirmed it, also while Stripe does not respond',
    { tags: ['full'] },
    async () => {
      const { phone, token, customer } = await buyer('basic');
      const { id } = (
        await state({
          name: 'Ada Lovelace',
          contact: phone,
        })
      ).body.statement;
      const { shown, confirmed } = await during({ stripe: { status: 500 } }, async () => {
        const found = await read(token);
        // As of a statement of which its person was not told.
        await run('update withdrawals set due_at = null where id = ?', id);
        return { shown: found, confirmed: await withdraw(token) };
      });
      expect(shown).toMatchObject({
        contract: null,
        statement: { id, state: 'received' },
      });
      expect(shown.statement).toHaveProperty('objectUntil');
      expect(confirmed.body.statement).toMatchObject({
        id,
        state: 'received',
      });
      const { rows } = await run('select due_at from withdrawals where id = ?', id);
      expect(Number(rows[0]!['due_at'])).toBeLessThanOrEqual(Date.now());
      await run('update customers set lease_until = 0 where stripe_id = ?', customer);
      await runCron();
      expect((await read(token)).statement).toMatchObject({
        id,
        state: 'done',
        refund: 1199,
      });
      expect(await refundsOf(customer)).toEqual([1199]);
    },
  );

  it('ends nothing when its person objects, who can withdraw afterwards all the same', async () => {
    const { phone, token, customer } = await buyer('basic');
    const { id } = (
      await state({
        name: 'Not Ada',
        contact: phone,
      })
    ).body.statement;
    const object = (of: string) =>
      call('POST', `${path}/objection`, {
        token: of,
        body: { id },
      });
    const other = await newPerson();
    expect((await object(other.token)).status).toBe(404);
    expect(await object(token)).toMatchObject({
      status: 200,
      body: { success: true },
    });
    expect((await object(token)).status).toBe(404);
    await run('update withdrawals set due_at = 0 where id = ? and due_at is not null', id);
    await runCron();
    const { statement, contract } = await read(token);
    expect(statement).toBeNull();
    expect(contract).toMatchObject({ tier: 'basic', refund: 1199 });
    const { rows } = await run('select state, reason from withdrawals where id = ?', id);
    expect(rows[0]).toMatchObject({
      state: 'needs_owner',
      reason: 'objected',
    });
    expect((await withdraw(token)).body.statement).toMatchObject({
      state: 'done',
      refund: 1199,
    });
    expect(await refundsOf(customer)).toEqual([1199]);
  });

  it('is limited by address', async () => {
    const address = '203.0.113.77';
    const body = { name: 'Grace Hopper', contact: 'grace@example.com' };
    const responses = await parallel(25, () => state(body, address));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(20);
    expect(responses.find(({ status }) => status === 429)!.headers.get('retry-after')).toBeTruthy();
  });

  it.each([
    [{ name: 'A', contact: 'a@example.com' }, 'name'],
    [{ name: 'Ada', contact: 'x' }, 'contact'],
    [
      {
        name: 'Ada',
        contact: 'a@example.com',
        email: 'nowhere',
      },
      'email',
    ],
  ])('refuses %j', async (body, field) => {
    expect((await state(body)).body).toMatchObject({
      code: 'invalid_field',
      issues: [{ path: field }],
    });
  });
});

it('the owner is told each hour of statements that wait for three days', async () => {
  const body = { name: 'Ada Lovelace', contact: 'ada@example.com' };
  const made = await call('POST', '/api/withdrawals', { body });
  const { id } = made.body.statement;
  const { rows } = await run('select seq from withdrawals where id = ?', id);
  const seq = Number(rows[0]!['seq']);
  const db = openDatabase(settingsOf(env)!, {
    requests: 0,
    unreachable: false,
  });
  const overdue = (after: number) =>
    overdueStatements(db, Date.parse(made.body.statement.submittedAt) + after * 1000);
  expect(await overdue(3 * day - 1)).not.toContain(seq);
  expect(await overdue(3 * day)).toContain(seq);
});
