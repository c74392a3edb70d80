import { getTableColumns, getTableName, is } from 'drizzle-orm';
import { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as schema from '../../drizzle/schema.ts';
import { keyedHashes } from '../../worker/lib/crypto.ts';
import { supportToken } from '../../worker/sign-in/session-token.ts';
import { botCall, call, parallel, runCron, tally, vars } from './support/api.ts';
import { buy, newSubscriber, subscribe } from './support/buying.ts';
import { consent, newWriter, reply, write } from './support/chat.ts';
import { advanceClock, day, second } from './support/clock.ts';
import { beginChange, newCode, redeem, requestCode, requestOtp } from './support/codes.ts';
import { eventTypes, newBusinessUserId, newContact, newPhone, post } from './support/contacts.ts';
import {
  deleteAccount,
  exportOf,
  externalSession,
  getMe,
  newPerson,
  trialSession,
  userOf,
  choosePlatform,
} from './support/person.ts';
import { deliveredEvents, run, sandbox, userRowOf } from './support/sandbox.ts';
import { fetchByCron } from './support/stripe-events.ts';
import { customerOf } from './support/stripe.ts';
import { OpenStream, ticketOf } from './support/streams.ts';
import { recordingOf, sendRecording } from './support/voice.ts';

const approve = (phone: string, status: string) =>
  botCall('/api/bot/approvals', {
    phone,
    status,
  });
const platformOf = (token: string) => call('GET', '/api/user/platform', { token });

it('makes new users wait when it is manual, until the bot approves them', async () => {
  const phone = newPhone();
  await botCall('/api/bot/contacts', { phone }, undefined, { APPROVAL: 'manual' });
  const { body } = await redeem(await requestCode(phone));
  expect(body).toMatchObject({ success: true, status: 'pending' });
  const { token } = body;
  expect((await getMe(token)).body.profile.status).toBe('pending');
  expect((await platformOf(token)).status).toBe(403);
  expect((await post(phone)).body).toMatchObject({
    allowed: false,
    used: 0,
  });
  for (const answer of await parallel(50, () => approve(phone, 'approved')))
    expect(answer.body).toEqual({ success: true, status: 'approved' });
  expect((await platformOf(token)).status).toBe(200);
  expect((await post(phone)).body).toMatchObject({
    allowed: true,
    used: 1,
  });
  const approved = {
    type: 'user.approved',
    timestamp: expect.any(String),
    data: { phone },
  };
  expect(await deliveredEvents(phone)).toMatchObject([approved]);
  expect((await approve(newPhone(), 'approved')).status).toBe(404);
  // Approval that is withdrawn ends open streams.
  const stream = await OpenStream.opened(token);
  await approve(phone, 'pending');
  await stream.until(({ ended }) => ended);
});

it('keeps the newest choice of a platform, WhatsApp without one, and the bot receives each change', async () => {
  advanceClock(0);
  const { phone, token } = await newPerson();
  const whatsapp = { success: true, platform: 'whatsapp' };
  expect((await platformOf(token)).body).toEqual(whatsapp);
  for (const platform of ['whatsapp', 'web', 'web', 'whatsapp']) {
    expect((await choosePlatform(token, platform)).body).toEqual({
      success: true,
      platform,
    });
    // One that still waits would be replaced.
    await deliveredEvents(phone);
  }
  expect(await choosePlatform(token, 'pigeon')).toMatchObject({
    status: 400,
    body: { message: 'Choose whatsapp or web' },
  });
  const events = await deliveredEvents(phone);
  const told = ['web', 'whatsapp'].map((platform) => ({
    type: 'platform.changed',
    data: { platform },
  }));
  expect(events).toMatchObject(told);
  // An older choice that arrives late changes nothing.
  advanceClock(-second);
  expect((await choosePlatform(token, 'web')).body).toEqual(whatsapp);
  expect((await platformOf(token)).body).toEqual(whatsapp);
  expect(await deliveredEvents(phone)).toEqual(events);
});

it('erases the account, its sessions and streams, and notifies the bot', async () => {
  const { phone, token } = await newPerson();
  await post(phone, 3);
  await choosePlatform(token, 'web');
  const ticket = await ticketOf(token);
  const stream = await OpenStream.opened(ticket);
  expect(tally(await parallel(50, () => deleteAccount(token)))).toEqual({
    200: 1,
    401: 49,
  });
  await stream.until(({ ended }) => ended);
  expect((await call('GET', `/api/user/usage-stream?token=${ticket}`)).status).toBe(401);
  expect((await post(phone)).body).toMatchObject({ allowed: false });
  expect((await requestOtp(phone)).body).toMatchObject({ requiresInitialContact: true });
  expect((await eventTypes(phone)).filter((type) => type === 'user.deleted')).toHaveLength(1);
  // The number may sign up again at once, with nothing of the old account but the count of its week.
  expect((await platformOf((await newPerson(phone)).token)).body.platform).toBe('whatsapp');
});

describe('whoever deletes the account and returns', () => {
  const use = async (phone: string, count: number) => (await post(phone, count)).body;
  const leave = async (phone: string) => {
    expect((await deleteAccount(await externalSession(phone))).body).toEqual({ success: true });
  };

  it('finds the count that they left in the same free week, however often, and a new one after it', async () => {
    const { phone } = await newContact();
    const { resetsAt } = await use(phone, 3);
    for (const [time, used] of [4, 5, 5, 5].entries()) {
      await leave(phone);
      // Somebody who signs in before they write finds it as well.
      if (time === 3) await externalSession(phone);
      await newContact(phone);
      expect(await use(phone, 1)).toMatchObject({
        allowed: time < 2,
        used,
        resetsAt,
      });
    }
    advanceClock(7 * day);
    expect(await use(phone, 1)).toMatchObject({ allowed: true, used: 1 });
  });

  it('finds that count also after they have looked at the checkout', async () => {
    const { phone } = await newContact();
    const { resetsAt } = await use(phone, 3);
    await leave(phone);
    const { token } = await newPerson(phone);
    expect((await buy(token, 'basic')).status).toBe(200);
    await fetchByCron(await customerOf(phone));
    expect(await use(phone, 1)).toMatchObject({ used: 4, resetsAt });
    await leave(phone);
    await newContact(phone);
    expect(await use(phone, 1)).toMatchObject({ used: 5, resetsAt });
  });

  it('leaves nothing of it behind once the week has ended, and nothing without a count', async () => {
    const rows = async (phone: string) => {
      const [mac] = await keyedHashes(vars.CODE_PEPPER!.split(/[\s,]+/), 'left-week', phone);
      return (await run('select used from left_weeks where phone_mac = ?', mac!)).rows;
    };
    const [silent, spent] = [(await newContact()).phone, (await newContact()).phone];
    await use(spent, 2);
    for (const phone of [silent, spent]) await leave(phone);
    expect([await rows(silent), await rows(spent)]).toEqual([
      [],
      [expect.objectContaining({ used: 2 })],
    ]);
    advanceClock(7 * day + second);
    await runCron();
    expect(await rows(spent)).toEqual([]);
  });
});

/** Where the rows of a table about a person stand in the export. */
const partOf: Record<string, string> = {
  users: 'account',
  aliases: 'identities',
  identity_conflicts: 'identityConflicts',
  sessions: 'sessions',
  codes: 'code',
  link_codes: 'linkCodes',
  claims: 'claims',
  phone_changes: 'phoneChanges',
  rate_limit_events: 'limitsOfAccount',
  consents: 'consents',
  trial_links: 'trialLinks',
  used_trials: 'usedTrials',
  left_weeks: 'leftWeeks',
  outbox: 'eventsForTheBot',
  customers: 'stripe',
  push_subscriptions: 'notices',
  purchase_choices: 'purchaseChoices',
  withdrawals: 'withdrawals',
  messages: 'conversation',
  recordings: 'recordings',
};

const notExported: Record<string, string> = {
  decisions: 'empty when a transaction ends',
  code_messages:
    'found by the id that WhatsApp gives a message alone; what it says stands in `codes`',
  daily_codes: 'a number of each day',
  daily_totals: 'a number of each day',
  bot_calls: 'found by the id of a call alone; a note says what they hold, and for how long',
  used_tokens: 'found by the id of a token alone',
  stripe_events: 'ids of events, which name nobody',
  receipt_mails:
    'when the receipt of a statement was mailed; the statement is exported, and the address kept until then',
  chat_erasures: 'that a cleared conversation is not erased everywhere yet',
  head: 'counters of the conversation, each of which stands in its messages',
  cleared_times: 'when messages of the last minute came that the person has cleared',
};

const tablesOfObject = ['messages', 'head', 'cleared_times', 'recordings'];

describe('the export of a user', () => {
  it('is a JSON attachment with everything that is kept, here and at Stripe', async () => {
    const { phone, token } = await newSubscriber('basic');
    await post(phone);
    const report = () =>
      botCall('/api/bot/contacts', {
        phone,
        businessUserId: newBusinessUserId(),
      });
    expect([(await report()).status, (await report()).status]).toEqual([200, 409]);
    await newCode(phone);
    await trialSession(phone);
    await externalSession(phone);
    const { phone: wanted } = await beginChange(token);
    const { status, headers, body } = await exportOf(token);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(headers.get('content-disposition')).toMatch(
      /^attachment; filename="solace-data-\d{4}-\d\d-\d\d\.json"$/,
    );
    expect(headers.get('cache-control')).toBe('no-store');
    const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
    expect(body.account).toMatchObject({
      phone,
      tier: 'basic',
      trialTier: 'premium',
      used: 1,
      createdAt: instant,
    });
    expect(body.sessions).toHaveLength(3);
    for (const list of ['code', 'limits', 'trialLinks', 'usedTrials', 'notes'])
      expect(body[list]).not.toHaveLength(0);
    expect(body.phoneChanges).toEqual([
      { phone: wanted, expiresAt: expect.any(String), triesLeft: 5 },
    ]);
    expect(body.code).toMatchObject([{ sentAt: instant }]);
    expect(body.identityConflicts).toEqual([{ at: instant, lastAt: instant }]);
    expect(body.stripe.subscriptions).toMatchObject([
      { status: 'active', plans: ['basic_weekly'] },
    ]);
    expect(body.stripe.invoices).toHaveLength(1);
    expect(body.stripe.paymentMethods).toMatchObject([
      { card: { last4: expect.stringMatching(/^\d{4}$/) } },
    ]);
    // It is never half of that.
    await sandbox.faults({ stripe: { status: 500 } });
    expect(await exportOf(token)).toMatchObject({
      status: 503,
      body: { code: 'unavailable' },
    });
  });

  it('holds the whole conversation, and not its key', async () => {
    const { phone, token } = await newWriter();
    await write(token, 'Something personal');
    for (let index = 0; index < 60; index += 1) await reply(phone, `Reply ${index}`);
    const { body, text } = await exportOf(token);
    const replies = Array.from({ length: 60 }, (_, index) => ({
      seq: index + 2,
      text: `Reply ${index}`,
    }));
    expect(body.conversation).toMatchObject([
      { seq: 1, author: 'user', text: 'Something personal' },
      ...replies,
    ]);
    const { chat_key: wrapped } = await userRowOf({ phone });
    expect(wrapped).toEqual(expect.any(String));
    expect(text).not.toContain(wrapped);
    expect(body.account).not.toHaveProperty('chatKey');
  });

  it('has a part for each table, in which something stands, or a reason', async () => {
    const ofDatabase = Object.values<unknown>(schema)
      .filter((each) => is(each, SQLiteTable))
      .map((table) => getTableName(table));
    expect(Object.keys({ ...partOf, ...notExported }).toSorted()).toEqual(
      [...ofDatabase, ...tablesOfObject].toSorted(),
    );

    const { phone } = await newContact();
    await post(phone);
    await deleteAccount(await externalSession(phone));
    await newContact(phone);
    await trialSession(phone);
    const { token } = await newPerson(phone);
    const report = () =>
      botCall('/api/bot/contacts', {
        phone,
        businessUserId: newBusinessUserId(),
      });
    expect([(await report()).status, (await report()).status]).toEqual([200, 409]);
    await newCode(phone);
    expect((await requestOtp(phone)).status).toBe(429);
    await beginChange(token);
    await consent(token);
    await call('PUT', '/api/user/push', {
      token,
      body: await sandbox.newBrowser(phone),
    });
    await sendRecording(token, recordingOf('audio/ogg'));
    await subscribe(token, 'basic');
    await call('POST', '/api/billing/withdrawal', { token });
    await sandbox.faults({ bot: { status: 503, match: phone } });
    await call('PUT', '/api/user/platform', {
      token,
      body: { platform: 'web' },
    });
    const claim = `insert into claims (mac, sealed, sent_by, code_mac, tries_left, expires_at, user_id)
      values (?1, '', ?1, '', 5, ?2, ?3)`;
    await run(claim, phone, Date.now(), userOf(token));
    onTestFinished(async () => void (await run('delete from claims where mac = ?', phone)));

    const { body } = await exportOf(token);
    for (const [table, part] of Object.entries(partOf)) {
      expect(body[part], `${table}: ${part}`).toBeTruthy();
      expect(body[part], `${table}: ${part}`).not.toEqual([]);
    }
    const columns = Object.keys(getTableColumns(schema.users)).toSorted();
    const shown = [...Object.keys(body.account), 'chatKey', 'chatKeyId'].toSorted();
    expect(shown).toEqual(columns);
  });

  it('holds no secret and no hash', async () => {
    const { phone, token } = await newSubscriber('premium');
    await newCode(phone);
    const { text } = await exportOf(token);
    const sql = `select challenge, mac, sent_by, sessions.id as session
      from codes, sessions where challenge <> '' and phone = ? and user_id = ?`;
    const { rows } = await run(sql, phone, userOf(token));
    const hidden = Object.values(rows[0]!) as string[];
    expect(hidden).toHaveLength(4);
    for (const secret of [token, ...hidden]) expect(text).not.toContain(secret);
    expect(text).not.toMatch(/"[^"]*(secret|mac|hash|token)[^"]*":|https?:/i);
  });

  it('is open to a pending user who never paid, as is the deletion, and names nobody else', async () => {
    const [{ phone, token }, other] = [await newPerson(), await newPerson()];
    await approve(phone, 'pending');
    const { status, body, text } = await exportOf(token);
    expect([status, body]).toMatchObject([
      200,
      { account: { phone, status: 'pending' }, stripe: null },
    ]);
    expect(text).not.toContain(other.phone.slice(1));
    expect((await deleteAccount(token)).body).toEqual({ success: true });
  });

  it('is made five times an hour, by fifty parallel callers too, and takes no token from the address', async () => {
    const { token } = await newPerson();
    expect((await call('GET', `/api/user/export?token=${token}`)).status).toBe(401);
    expect(tally(await parallel(50, () => exportOf(token)))).toEqual({
      200: 5,
      429: 45,
    });
  });
});

it('the support command exports and deletes the account that its token names, and opens no session', async () => {
  const { token } = await newPerson();
  const own = (await exportOf(token)).body;
  const support = await supportToken({ SESSION_KEYS: vars.SESSION_KEYS! }, own.account.id);
  const act = (method: string, by?: string) => call(method, '/api/support/account', { token: by });
  const ticket = await ticketOf(token);
  const foreign = await supportToken({ SESSION_KEYS: `new:${'A'.repeat(43)}` }, own.account.id);
  for (const bad of [undefined, token, ticket, foreign])
    expect(tally([await act('GET', bad), await act('DELETE', bad)])).toEqual({ 401: 2 });
  expect((await act('GET', support)).body).toMatchObject({
    account: own.account,
    sessions: [expect.anything()],
  });
  expect((await getMe(support)).status).toBe(401);
  expect((await act('DELETE', support)).status).toBe(200);
  expect((await getMe(token)).status).toBe(401);
  expect((await act('GET', support)).status).toBe(404);
});
