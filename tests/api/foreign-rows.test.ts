import { afterEach, describe, expect, it } from 'vitest';
import { botCall, call, runCron } from './support/api.ts';
import { buy, checkOut, onTrial } from './support/buying.ts';
import { newWriter, textsOf } from './support/chat.ts';
import { eventually } from './support/clock.ts';
import { beginChange, verifyChange } from './support/codes.ts';
import { linkedTo, newBusinessUserId, newPhone } from './support/contacts.ts';
import {
  deleteAccount,
  getMe,
  newPerson,
  type Person,
  sessionOf,
  trialSession,
  userOf,
} from './support/person.ts';
import { logLines } from './support/requests.ts';
import { customerOf, stripe } from './support/stripe.ts';
import { during, eventsAbout, outboxOf, run, sandbox, userRowOf } from './support/sandbox.ts';

/*
 * A row that somebody has put under another account stays nobody's, whatever that account does by its own right: it
 * changes its number, waits for its events, and leaves.
 */

async function newNamed() {
  const [person, businessUserId] = [await newWriter(), newBusinessUserId()];
  const { phone } = person;
  await botCall('/api/bot/contacts', { phone, businessUserId });
  const { body } = await botCall('/api/bot/trials', { phone });
  const trialToken = new URL(body.url).searchParams.get('token')!;
  return { ...person, businessUserId, trialToken };
}

const giveAlias = (businessUserId: string, to: Person) =>
  run(
    `update aliases set user_id = ? where kind = 'business' and value = ?`,
    userOf(to.token),
    businessUserId,
  );

const giveLinks = (of: Person, to: Person) =>
  run('update trial_links set user_id = ? where user_id = ?', userOf(to.token), userOf(of.token));

async function changeNumber({ token }: Person): Promise<string> {
  const begun = await beginChange(token);
  expect((await verifyChange(token, begun)).status).toBe(200);
  return begun.phone;
}

const openTrial = (trialToken: string) =>
  call('POST', '/auth/verify-trial-token', { body: { trialToken } });

const messageFor = (businessUserId: string) =>
  botCall('/api/bot/messages', {
    businessUserId,
    id: crypto.randomUUID(),
    text: 'For your eyes',
  });

const usedBy = async ({ token }: Person) =>
  (await getMe(token)).body.profile.messagesUsedThisPeriod as number;

type Row = {
  seq: number;
  id: string;
  user_id: string;
  body: string;
};

async function deletionsOf(phone: string): Promise<Row[]> {
  const rows = (await outboxOf(phone)) as unknown as Row[];
  return rows.filter(({ body }) => body.includes('user.deleted'));
}

afterEach(() => sandbox.faults({ bot: null }));

describe('a change of the number', () => {
  it('makes no id of somebody else valid, who gets it back by writing', async () => {
    const [victim, thief] = [await newNamed(), await newWriter()];
    const { phone, businessUserId } = victim;
    await giveAlias(businessUserId, thief);
    const moved = await changeNumber(thief);

    const usage = await botCall('/api/bot/usage', { businessUserId });
    expect(usage.body).toMatchObject({ allowed: false });
    expect((await messageFor(businessUserId)).status).toBe(404);
    expect([await textsOf(thief), await usedBy(thief)]).toEqual([[], 0]);
    expect(await linkedTo(moved)).toEqual([]);

    await botCall('/api/bot/contacts', { phone, businessUserId });
    expect(await linkedTo(phone)).toEqual([[businessUserId, 'contact']]);
    expect((await messageFor(businessUserId)).status).toBe(200);
    expect(await textsOf(victim)).toEqual(['For your eyes']);
  });

  it('makes no id valid that a thief has put under the account', async () => {
    const [victim, thief] = [await newWriter(), await newNamed()];
    await giveAlias(thief.businessUserId, victim);
    const moved = await changeNumber(victim);

    expect((await messageFor(thief.businessUserId)).status).toBe(404);
    expect(await linkedTo(moved)).toEqual([]);
    expect([await textsOf(victim), await usedBy(victim)]).toEqual([[], 0]);
  });

  it('keeps the own id and the own trial link', async () => {
    const person = await newNamed();
    const moved = await changeNumber(person);

    expect(await linkedTo(moved)).toEqual([[person.businessUserId, 'earlier-number']]);
    expect((await messageFor(person.businessUserId)).status).toBe(200);
    expect((await openTrial(person.trialToken)).status).toBe(200);
  });

  it('makes no trial link of somebody else valid, on either side', async () => {
    const [mover, other] = [await newWriter(), await newNamed()];
    await giveLinks(other, mover);
    await changeNumber(mover);

    expect((await openTrial(other.trialToken)).body.token).toBeUndefined();
    const { rows } = await run('select * from trial_links where user_id = ?', userOf(mover.token));
    expect(rows).toEqual([]);
  });
});

describe('an event that waits for the bot', () => {
  it('goes to no number that the row of the account alone names', async () => {
    const [person, sim] = [await newPerson(), newPhone()];
    await sandbox.faults({ bot: { status: 503 } });
    const phone = await changeNumber(person);
    const statement = {
      name: 'Ada Lovelace',
      contact: phone,
      email: 'ada@example.com',
    };
    await call('POST', '/api/withdrawals', { body: statement });
    const waiting = (await outboxOf(phone)).map(({ seq }) => seq);
    expect(waiting).toHaveLength(2);
    await run('update users set phone = ? where id = ?', sim, userOf(person.token));
    await sandbox.faults({ bot: null });

    await eventually(async () => {
      await run('update outbox set due_at = 0, leased_until = 0 where parked_at is null');
      await runCron();
      const parked = (await outboxOf(phone)).filter((row) => row['parked_at'] !== null);
      expect(parked.map(({ seq }) => seq)).toEqual(waiting);
    });
    expect([...(await eventsAbout(sim)), ...(await eventsAbout(phone))]).toEqual([]);

    await run('update users set phone = ? where id = ?', phone, userOf(person.token));
    await run('update outbox set parked_at = null, due_at = 0 where phone = ?', phone);
    await runCron();
    const types = (await eventsAbout(phone)).map(({ type }) => type);
    expect(types).toEqual(['user.phone_changed', 'withdrawal.received']);
  });
});

describe('the deletion of an account', () => {
  it('names no id of somebody else', async () => {
    const [victim, thief] = [await newNamed(), await newPerson()];
    await giveAlias(victim.businessUserId, thief);
    await deleteAccount(thief.token);
    await runCron();

    const told = await eventually(async () => {
      const events = await eventsAbout(thief.phone, 'user.deleted');
      expect(events).toHaveLength(1);
      return events;
    });
    expect(JSON.stringify(told)).not.toContain(victim.businessUserId);
  });

  it('names the own id', async () => {
    const person = await newNamed();
    await deleteAccount(person.token);
    await runCron();

    await eventually(async () => {
      const [event] = await eventsAbout(person.phone, 'user.deleted');
      expect(event?.data).toMatchObject({ businessUserId: person.businessUserId });
    });
  });

  it('is told once, whatever is put back into the outbox', async () => {
    const { phone, token } = await newPerson();
    const [event] = await during({ bot: { status: 503 } }, async () => {
      await deleteAccount(token);
      return deletionsOf(phone);
    });
    const putBack = async (id: string, userId = event!.user_id) => {
      const sql = 'insert into outbox (id, user_id, phone, body, due_at) values (?, ?, ?, ?, 0)';
      await run(sql, id, userId, phone, event!.body);
      await runCron();
      expect(await outboxOf(phone)).toEqual([]);
    };
    await run('delete from outbox where seq = ?', event!.seq);
    await putBack(event!.id, userOf((await newPerson()).token));
    expect(await eventsAbout(phone, 'user.deleted')).toEqual([]);
    await putBack(event!.id);
    expect(await eventsAbout(phone, 'user.deleted')).toHaveLength(1);

    await newPerson(phone);
    await putBack(event!.id);
    await putBack('evt_another');
    expect(await eventsAbout(phone, 'user.deleted')).toHaveLength(1);
    const refused = { table: 'outbox' };
    expect(logLines('row_not_bound')).toMatchObject([refused, refused]);
  });
});

describe('a session of a trial link whose row says that somebody has signed in', () => {
  it('ends no consent and subscribes no browser', async () => {
    const person = await newWriter();
    const token = await trialSession(person.phone);
    await run('update sessions set is_limited = 0 where id = ?', sessionOf(token));
    const before = await userRowOf(person);

    const browser = await sandbox.newBrowser(person.phone);
    const subscribed = await call('PUT', '/api/user/push', {
      token,
      body: browser,
    });
    const withdrawn = await call('DELETE', '/api/user/chat/consent', { token });
    expect([subscribed.status, withdrawn.status]).toEqual([503, 503]);

    expect(await userRowOf(person)).toEqual(before);
    const own = 'select * from push_subscriptions where user_id = ?';
    expect((await run(own, userOf(person.token))).rows).toEqual([]);
  });
});

it('the checkout of somebody else saves no card and books no plan', async () => {
  const [victim, thief] = [await onTrial('premium'), await onTrial('premium')];
  await checkOut(victim.token, 'basic');
  await buy(thief.token, 'basic');
  const customer = await customerOf(thief.phone);
  const theirs = { customer: await customerOf(victim.phone) };
  const { data: checkouts } = await stripe.checkout.sessions.list(theirs);
  const change = 'update customers set setup_session = ? where stripe_id = ?';
  await run(change, checkouts[0]!.id, customer);

  expect((await buy(thief.token, 'basic')).status).toBe(503);
  expect(logLines('row_not_bound')).toContainEqual(expect.objectContaining({ table: 'customers' }));
  const { data: cards } = await stripe.customers.listPaymentMethods(customer);
  const { data: plans } = await stripe.subscriptions.list({ customer });
  expect([...cards, ...plans]).toEqual([]);
});
