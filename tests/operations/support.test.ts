import { describe, expect, test, onTestFinished, afterAll, beforeEach } from 'vitest';
import {
  loseResponses,
  newSubscriber,
  setFault,
  eventTypesOf,
  tablesWith,
  auditLines,
  ownerCommand,
  support,
  supportJson,
  supportProcess,
  product,
} from './support-runs.ts';
import { call, newNumber } from './test-product.ts';
// Its tests use the product that belongs to this file.
import './advice-cases.ts';
import { randomInt } from 'node:crypto';
import { until } from '../api/support/clock.ts';
import { runMinuteCron, startTestServices } from '../product/start-product.ts';
import {
  dropParked,
  outbox,
  parkedEvents,
  retryParked,
} from '../../worker/operations/support/parked-events.ts';
import { consentVersion } from '../../worker/contract/chat-limits.ts';
import { newOwner } from '../../worker/operations/support/new-owner.ts';
import { withdrawalCommand } from '../../worker/operations/support/withdrawals.ts';
import { openDatabase } from '../../worker/lib/database.ts';
import { settingsOf } from '../../worker/settings.ts';
import { phoneSubjects, type PhoneNumber } from '../../worker/identity/phone.ts';
import { sealParkedDeletions } from '../../worker/bot/parked-deletions.ts';
import { readQuestions } from '../../worker/operations/report/report.ts';

const { database, openTrialLink, reportContact, signIn, writeToAssistant } = product;
const it = test.extend('phone', () => newSubscriber());

/** A command between what it has read and what it does. */
function requestOf(...words: string[]) {
  const settings = settingsOf(product.vars)!;
  const db = openDatabase(settings, { requests: 0, unreachable: false });
  return { words, flags: {}, db, settings };
}

/** A command that was refused or failed, and what it said. */
const failed = (code: 1 | 2, said: RegExp | string) => ({
  code,
  stderr: expect.stringMatching(said),
});
/** What stands for a number in the audit. */
const tag = expect.stringMatching(/^[\da-f]{8}$/);

it('lists every command when it is called without one, and refuses another', async () => {
  const { code, stdout } = await support();
  expect(code).toBe(0);
  for (const name of [
    'find',
    'trial',
    'sync',
    'release',
    'outbox',
    'withdrawals',
    'unclosed',
    'export',
    'move',
    'new-owner',
    'erase',
  ])
    expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
  expect(await support('delete', '+15551234567')).toMatchObject(failed(2, 'no command'));
  expect(await support('find', '+15551234567', '--env', 'mars')).toMatchObject({ code: 2 });
  expect(await support('find', '+15551234567', '--loud')).toMatchObject({ code: 2 });
  for (const [surplus, line] of [
    ['+15551234568', 'find +15551234567 +15551234568'],
    ['--days', 'erase +15551234567 --days 3'],
    ['--yes', 'find +15551234567 --yes'],
    ['x', 'outbox drop all x'],
    ['x', 'withdrawals match 1 +15551234567 x'],
  ] as const)
    expect(await support(...line.split(' '))).toMatchObject(
      failed(2, `There is no place for "${surplus.replace('+', '\\+')}" here`),
    );
  for (const line of ['withdrawals show 1 x', 'withdrawals show -1', 'unclosed close'])
    expect(await support(...line.split(' ')), line).toMatchObject({ code: 2 });
  expect(await support('find', '5f0c')).toMatchObject(failed(2, 'or an id of WhatsApp'));
});

it('refuses without --yes what loses something, says what it would do, and changes nothing', async ({
  phone,
}) => {
  for (const command of [`erase ${phone}`, `move ${phone} +15550109999`, 'outbox drop all'])
    expect(await support(...command.split(' '))).toMatchObject(failed(2, /^This would .* --yes/m));
  const pasted = `\u202atel:${phone.slice(0, 5)}\u00a0(${phone.slice(5)})\u202c`;
  for (const number of [phone, pasted])
    expect(await supportJson('find', number)).toMatchObject({ account: { phone } });
});

it('every use leaves two audit lines without the number, a look at a user too', async ({
  phone,
}) => {
  expect(await support('release', phone)).toMatchObject({ code: 0 });
  await support('find', phone);
  const lines = auditLines().slice(-4);
  expect(lines).toMatchObject([
    {
      env: 'local',
      command: 'release',
      about: tag,
      outcome: 'started',
    },
    { command: 'release', outcome: 'done' },
    { command: 'find', about: tag, outcome: 'started' },
    { command: 'find', outcome: 'done' },
  ]);
  const query = (number: string) => `select tier from users where phone = '${number}'`;
  expect(await ownerCommand('report/query-command.ts', query(phone))).toMatchObject({ code: 0 });
  expect(auditLines().at(-1)).toMatchObject({
    command: 'query',
    about: query(lines[0]!.about),
    outcome: 'done',
  });
  expect(JSON.stringify(auditLines())).not.toContain(phone.slice(1));
  expect(await ownerCommand('report/query-command.ts', 'select nothing')).toMatchObject({
    code: 1,
  });
  expect(auditLines().at(-1)).toMatchObject({
    command: 'query',
    about: 'select nothing',
    outcome: 'failed',
  });
});

it('every use that is refused leaves one audit line, without the number', async ({ phone }) => {
  const [unknown, other] = [newNumber(), newNumber()];
  await writeToAssistant(other);
  await support('find', phone);
  const { about } = auditLines().at(-1)!;
  const refused = [
    ['erase', phone],
    ['move', phone, unknown],
    ['new-owner', phone],
    ['move', phone, other, '--yes'],
    ['erase', unknown, '--yes'],
    ['export', unknown],
    ['find', 'US.1234567890'],
  ];
  for (const words of refused) {
    const before = auditLines().length;
    expect((await support(...words)).code, words.join(' ')).toBeGreaterThan(0);
    const lines = auditLines().slice(before);
    expect(lines, words.join(' ')).toMatchObject([{ command: words[0], outcome: 'refused' }]);
    if (words.includes(phone)) expect(lines[0]!.about).toContain(about);
    else expect(lines[0]!.about).toMatch(/^([\da-f]{8}|nobody)$/);
  }
  for (const number of [phone, unknown, other])
    expect(JSON.stringify(auditLines())).not.toContain(number.slice(1));
});

describe('find', () => {
  it('shows account, plan, week, limits, sessions, events and payments, as text and as JSON', async ({
    phone,
  }) => {
    const found = await supportJson('find', phone);
    expect(found).toMatchObject({
      account: { phone, status: 'approved', platform: 'whatsapp' },
      plan: {
        tier: 'premium',
        subscription: 'basic',
        trial: { tier: 'premium' },
      },
      // The first paid week has just started.
      week: { used: 0, limit: expect.any(Number) },
      limits: { nextCodeAt: expect.stringMatching(/^\d{4}-/) },
      payments: {
        state: 'known',
        subscriptions: [{ status: 'active' }],
        returned: [],
      },
    });
    expect(found['sessions']).toHaveLength(2);
    expect(found['lastBotCalls'].length).toBeGreaterThan(0);
    expect(found['advice'].join()).toContain('Sign-in is limited');
    const { code, stdout } = await supportProcess('find', phone);
    expect(code).toBe(0);
    for (const part of [phone, 'Plan:', 'Week:', 'Limits:', 'Disputes and refunds:'])
      expect(stdout).toContain(part);
  });

  it('lists the calls about the week, and no other call of the bot', async ({ phone }) => {
    const { account } = await supportJson('find', phone);
    const calls = Array.from({ length: 10 }, (_, index) => [
      `typing ${index} ${phone}`,
      Date.now(),
    ]);
    const sql = `insert into bot_calls (id, fingerprint, by, at, facts) values (?, '', '', ?, json_object('userId', ?))`;
    await database.batch(
      calls.map((args) => ({
        sql,
        args: [...args, account.id],
      })),
    );
    const { lastBotCalls } = await supportJson('find', phone);
    expect(lastBotCalls).toContainEqual({
      at: expect.any(String),
      allowed: true,
    });
    expect(lastBotCalls).not.toContainEqual(expect.objectContaining({ allowed: null }));
    expect((await support('find', phone)).stdout).toMatch(/^Usage or entitlement: \d{4}-/m);
  });

  it('names a disputed payment, and shows what is kept here when Stripe does not respond', async ({
    phone,
  }) => {
    await call(`${product.sandboxUrl}/stripe/customers/${phone}/dispute`, 'POST');
    const found = await supportJson('find', phone);
    expect(found['payments'].returned).toMatchObject([{ disputes: [expect.any(String)] }]);
    expect(found['advice'].join()).toContain('disputed');
    await setFault('stripe', { status: 500 });
    const payments = { state: 'Stripe does not respond' };
    expect(await supportJson('find', phone)).toMatchObject({
      account: { phone },
      payments,
    });
    await setFault('stripe', { status: 401 });
    const refused = await supportJson('find', phone);
    expect(refused['payments']).toEqual({ state: 'Stripe refuses the key' });
    expect(refused['advice'].join()).toContain('STRIPE_SECRET_KEY');
  });

  it('never shows the conversation', async ({ phone }) => {
    const token = await signIn(phone);
    const text = `Something private ${randomInt(1_000_000)}`;
    await call(
      `${product.siteUrl}/api/user/chat/consent`,
      'PUT',
      { version: consentVersion },
      token,
    );
    await call(`${product.sandboxUrl}/bot/mode`, 'PUT', { mode: 'refuse' });
    await call(
      `${product.siteUrl}/api/user/chat/messages`,
      'POST',
      { id: crypto.randomUUID(), text },
      token,
    );
    await call(`${product.sandboxUrl}/bot/mode`, 'PUT', { mode: 'answer' });
    expect((await support('find', phone)).stdout).toContain(`consent ${consentVersion}`);
    for (const command of [`find ${phone}`, `find ${phone} --json`, 'outbox --json'])
      expect(JSON.stringify(await support(...command.split(' ')))).not.toContain(text);
  });

  it('cannot be made to command the terminal by what a user stored', async ({ phone }) => {
    const hostile = 'v1\u001b]0;owned\u0007\u009b2J\u202e\r\nPlan: platinum';
    const sql = 'update users set chat_consent_at = 1, chat_consent_version = ? where phone = ?';
    await database.execute(sql, [hostile, phone]);
    const shown = 'v1\\u001b]0;owned\\u0007\\u009b2J\\u202e\\u000d\\u000aPlan: platinum';
    expect((await support('find', phone)).stdout).toContain(`consent ${shown} of`);
    const query = `select chat_consent_version as version from users where phone = '${phone}'`;
    const printed = [
      await support('find', phone, '--json'),
      await support(`\u001b[2J`),
      await ownerCommand('report/query-command.ts', query),
    ];
    for (const { stdout, stderr } of printed)
      expect(stdout + stderr).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u);
  });

  it('says when nobody has the number, and asks for the country code', async () => {
    expect(await support('find', '+15550000000')).toMatchObject(
      failed(1, /^Nobody has this number\.$/m),
    );
    expect(await support('find', '5551234567')).toMatchObject(failed(2, 'country code'));
    expect(await support('find', 'US.1234567890')).toMatchObject(
      failed(1, /^Nobody has the id US\.1234567890\.$/m),
    );
    await setFault('libsql', { status: 500 });
    expect((await support('find', 'US.1234567890')).stderr).not.toContain('Nobody');
  });
});

it('find and release say that nothing clears the limit of all codes in a day', async ({
  phone,
}) => {
  const { everyCodeTo } = await phoneSubjects(settingsOf(product.vars)!, phone as PhoneNumber);
  const codes = Array.from({ length: 30 }, (_, index) => [
    everyCodeTo[0]!,
    Date.now(),
    `code ${index}`,
  ]);
  const sql = 'insert into rate_limit_events (subject, at, by) values (?, ?, ?)';
  await database.batch(codes.map((args) => ({ sql, args })));
  const found = await supportJson('find', phone);
  expect(found).toMatchObject({ limits: { nextCodeOfDayAt: expect.stringMatching(/^\d{4}-/) } });
  expect(found['advice'].join()).toContain('Nothing clears the limit of all codes in a day');
  expect((await support('release', phone)).stdout).toContain(
    'but nothing clears the limit of all codes in a day',
  );
});

it('release lets a limited number have its next code at once', async ({ phone }) => {
  const requestCode = () => call(`${product.siteUrl}/api/auth/request-otp`, 'POST', { phone });
  expect(await requestCode()).toMatchObject({ code: 'rate_limited' });
  expect(await supportJson('release', phone)).toMatchObject({ cleared: expect.any(Number) });
  expect(await requestCode()).toMatchObject({ success: true });
});

it('the report counts a code also when its number writes to the assistant afterwards', async () => {
  const phone = newNumber();
  const [query = ''] = readQuestions()[0]!.queries;
  const sent = async () => (await database.execute(query)).rows[0]!['codes_sent'] as number;
  await writeToAssistant(phone);
  const before = await sent();
  expect(await call(`${product.siteUrl}/api/auth/request-otp`, 'POST', { phone })).toMatchObject({
    success: true,
  });
  await writeToAssistant(phone);
  const { codesTo } = await phoneSubjects(settingsOf(product.vars)!, phone as PhoneNumber);
  const sql = 'select 1 from rate_limit_events where subject = ?';
  const limits = async () =>
    (
      await database.execute({
        sql,
        args: codesTo,
      })
    ).rows;
  await until('the cleared limit', limits, (rows) => rows.length === 0);
  expect(await sent()).toBe(before + 1);
});

it('trial creates a link that works, and no second one after it was used', async () => {
  const phone = newNumber();
  await writeToAssistant(phone);
  const { url, days } = await supportJson('trial', phone, '--tier', 'platinum', '--days', '5');
  expect(days).toBe(5);
  await openTrialLink(url);
  expect(await supportJson('find', phone)).toMatchObject({
    plan: { tier: 'platinum', trial: { tier: 'platinum' } },
  });
  const again = await support('trial', phone, '--tier', 'basic', '--days', '5');
  expect(again).toMatchObject(failed(1, 'already had its trial'));
});

it.each([
  ['--tier', 'gold'],
  ['--days', '31'],
  ['--days', 'three'],
])('trial refuses %s %s', async (...flags) => {
  expect(await support('trial', '+15551234567', ...flags, '--yes')).toMatchObject({ code: 2 });
});

it('outbox lists a parked event, sends it again, or removes it, and knows no other number', async ({
  phone,
}) => {
  const token = await signIn(phone);
  /** The number of the event about a choice that the bot refused. */
  const parkedEvent = async (platform: 'web' | 'whatsapp') => {
    await setFault('bot', { status: 422 });
    await call(`${product.siteUrl}/api/user/platform`, 'PUT', { platform }, token);
    const events = async () =>
      (await supportJson('find', phone))['eventsForTheBot'] as Record<string, unknown>[];
    const isParked = ({ type, parkedAt }: Record<string, unknown>) =>
      type === 'platform.changed' && Boolean(parkedAt);
    const found = await until('a parked event', events, (all) => all.some(isParked));
    await setFault('bot', null);
    return Number(found.find(isParked)!['seq']);
  };
  const deliveries = async () =>
    (await eventTypesOf(phone)).filter((type) => type === 'platform.changed').length;

  const refused = await parkedEvent('web');
  const listed = (await supportJson('outbox')) as Record<string, any>[];
  expect(listed).toContainEqual(
    expect.objectContaining({ seq: refused, type: 'platform.changed' }),
  );
  expect(JSON.stringify(listed)).not.toContain(phone);
  expect(await supportJson('outbox', 'retry', String(refused), '--yes')).toEqual({ retry: 1 });
  await runMinuteCron(product.siteUrl);
  await expect.poll(deliveries, { timeout: 30_000 }).toBe(1);

  const unwanted = String(await parkedEvent('whatsapp'));
  expect(await supportJson('outbox', 'drop', unwanted, '--yes')).toEqual({ drop: 1 });
  await runMinuteCron(product.siteUrl);
  expect(await deliveries()).toBe(1);
  expect(await support('outbox', 'drop', unwanted, '--yes')).toMatchObject({ code: 1 });
  expect(await support('outbox', 'burn', 'all', '--yes')).toMatchObject({ code: 2 });
});

describe('sync', () => {
  it('fetches a subscription of which no event came', async ({ phone }) => {
    await database.execute({
      sql: "update users set tier = 'free' where phone = ?",
      args: [phone],
    });
    expect((await supportJson('find', phone))['advice'].join()).toContain('run `sync`');
    const syncing = supportJson('sync', phone);
    const timer = setInterval(() => void runMinuteCron(product.siteUrl), 500);
    onTestFinished(() => clearInterval(timer));
    expect(await syncing).toEqual({
      fetched: true,
      tier: 'basic',
      subscriptionStatus: 'active',
    });
  });

  it('says that there is nothing to fetch for somebody who was never sent to Stripe', async () => {
    const phone = newNumber();
    await writeToAssistant(phone);
    expect(await support('sync', phone)).toMatchObject(failed(1, 'never sent to Stripe'));
  });
});

it('export prints what every table and Stripe hold, without secrets and hashes', async ({
  phone,
}) => {
  const { stdout } = await support('export', phone);
  const data = JSON.parse(stdout);
  const stripe = { subscriptions: [{ status: 'active' }] };
  expect(data).toMatchObject({
    account: {
      phone,
      tier: 'basic',
      trialTier: 'premium',
    },
    stripe,
  });
  const tables = 'aliases bot_calls codes customers outbox purchase_choices';
  const exported = `${tables} rate_limit_events sessions trial_links users`.split(' ');
  expect(exported).toEqual(expect.arrayContaining(await tablesWith(phone, data.account.id)));
  expect(stdout).not.toMatch(/"\w*mac"|wonBy|leaseToken": "/i);
});

describe('move', () => {
  it('gives the account another number, ends its sessions and tells the bot', async ({
    phone: old,
  }) => {
    const phone = newNumber();
    const { account, plan } = await supportJson('find', old);
    const stdout = expect.stringContaining(`Moved the account of ${old} to ${phone}.`);
    expect(await support('move', old, phone, '--yes')).toMatchObject({
      code: 0,
      stdout,
    });
    expect(await supportJson('find', phone)).toMatchObject({
      account: { id: account.id, phone },
      sessions: [],
      plan,
    });
    expect(await support('find', old)).toMatchObject(failed(1, 'Nobody has'));
    await expect
      .poll(() => eventTypesOf(phone), { timeout: 30_000 })
      .toContain('user.phone_changed');
  });

  it('says that both numbers are the same, in any spelling, and never to erase the account', async ({
    phone,
  }) => {
    const spelled = `+1 (${phone.slice(2, 5)}) ${phone.slice(5)}`;
    for (const same of [phone, spelled]) {
      const { code, stderr } = await support('move', phone, same, '--yes');
      expect(code).toBe(2);
      expect(stderr).toContain(`${phone} and ${same} are the same number. Nothing was changed.`);
      expect(stderr).not.toContain('erase');
    }
    expect(await supportJson('find', phone)).toMatchObject({ account: { phone } });
  });

  it('changes nothing for an unknown or a taken number, until its account was erased, as the refusal says', async () => {
    expect(await support('move', '+15550100000', '+15550100001', '--yes')).toMatchObject({
      code: 1,
    });
    const [old, second] = [await newSubscriber(), await newSubscriber()];
    const { account } = await supportJson('find', old);
    const refused = await support('move', old, second, '--yes');
    expect(refused).toMatchObject(failed(1, 'Somebody has the number'));
    expect(refused.stderr).toContain(`\`erase ${second} --yes\`, then repeat`);
    expect(await supportJson('find', old)).toMatchObject({ account: { phone: old } });
    expect(await support('erase', second, '--yes')).toMatchObject({ code: 0 });
    expect(await support('move', old, second, '--yes')).toMatchObject({ code: 0 });
    expect(await supportJson('find', second)).toMatchObject({
      account: { id: account.id, phone: second },
    });
  });
});

describe('new-owner', () => {
  const ids =
    'select value from aliases join users on users.id = user_id where phone = ? and kind = ?';
  const idsOf = async (phone: string) =>
    (
      await database.execute({
        sql: ids,
        args: [phone, 'business'],
      })
    ).rows.map(({ value }) => value);
  const newId = () => `US.${crypto.randomUUID().replaceAll('-', '')}`;

  it('begins an empty account for a number that came with another id, and ends what the earlier one pays for', async ({
    phone,
  }) => {
    const [own, other] = [newId(), newId()];
    const before = await supportJson('find', phone);
    const contradict = () =>
      reportContact({
        phone,
        businessUserId: other,
      });
    expect(await support('new-owner', phone, '--yes')).toMatchObject(failed(1, 'no other id'));
    await reportContact({ phone, businessUserId: own });
    expect(await contradict()).toMatchObject({ status: 409 });

    const contested = await supportJson('find', phone);
    expect(contested['advice'].join()).toContain('`new-owner`');
    expect(await support('new-owner', phone)).toMatchObject(
      failed(2, /^This would erase .* --yes/m),
    );
    // An event that waits may be delivered meanwhile.
    const { account, plan, conflicts } = contested;
    expect(await supportJson('find', phone)).toMatchObject({
      account,
      plan,
      conflicts,
    });

    const stdout = expect.stringContaining('began an empty one');
    expect(await support('new-owner', phone, '--yes')).toMatchObject({
      code: 0,
      stdout,
    });
    const found = await supportJson('find', phone);
    expect(found).toMatchObject({
      account: { phone, status: 'approved' },
      plan: { tier: 'free', subscription: 'free', trial: null },
      week: { used: 0 },
      sessions: [],
      customer: null,
      conflicts: [],
    });
    expect(found['account'].id).not.toBe(before['account'].id);
    expect(found['advice'].join()).not.toContain('`new-owner`');
    expect(await contradict()).toMatchObject({ status: 200 });
    expect(await idsOf(phone)).toEqual([other]);
    await expect.poll(() => eventTypesOf(phone), { timeout: 30_000 }).toContain('user.deleted');
    expect(auditLines().at(-1)).toMatchObject({
      command: 'find',
      about: tag,
    });
    // The empty account is not contested, so that the same line again erases nothing.
    expect(await support('new-owner', phone, '--yes')).toMatchObject(failed(1, 'no other id'));
    const { id } = found['account'];
    expect(await supportJson('find', phone)).toMatchObject({ account: { id } });
  });

  it('erases nothing if the earlier id writes at this moment', async ({ phone }) => {
    const own = newId();
    await reportContact({ phone, businessUserId: own });
    await reportContact({ phone, businessUserId: newId() });
    const { account } = await supportJson('find', phone);
    const action = await newOwner.run(requestOf(phone));
    await reportContact({ phone, businessUserId: own });
    await expect(action.perform()).rejects.toThrow('The account stays');
    expect(await supportJson('find', phone)).toMatchObject({ account: { id: account.id } });
    expect(await idsOf(phone)).toEqual([own]);
  });

  it('names the way for an id that has an account of its own, and changes nothing', async ({
    phone,
  }) => {
    const [other, id] = [newNumber(), newId()];
    await reportContact({ phone: other, businessUserId: id });
    await reportContact({ phone, businessUserId: id });
    const refused = await support('new-owner', phone, '--yes');
    expect(refused).toMatchObject(failed(1, 'is of the account'));
    expect(refused.stderr).toContain(`\`move ${other} ${phone} --yes\``);
    expect(await supportJson('find', phone)).toMatchObject({ plan: { subscription: 'basic' } });
    expect(await support('new-owner', newNumber(), '--yes')).toMatchObject(failed(1, 'Nobody has'));
  });
});

describe('when the response to a command is lost', () => {
  it('erase and move say that they were done, and so does the audit', async () => {
    const [erased, old, phone] = [await newSubscriber(), await newSubscriber(), newNumber()];
    await loseResponses({ handles: true });
    for (const command of [`erase ${erased}`, `move ${old} ${phone}`]) {
      const stdout = expect.stringMatching(/^(Erased|Moved) .* The response was lost: /);
      expect(await support(...command.split(' '), '--yes')).toMatchObject({
        code: 0,
        stdout,
      });
      expect(auditLines().at(-1)).toMatchObject({
        command: command.split(' ')[0],
        outcome: 'done',
      });
    }
    expect(await support('find', erased)).toMatchObject(failed(1, 'Nobody has'));
    expect(await supportJson('find', phone)).toMatchObject({ account: { phone } });
  });

  it('they do not say that the account stays while the Worker may be at work', async ({
    phone,
  }) => {
    await loseResponses({ handles: false });
    for (const command of [`erase ${phone}`, `move ${phone} ${newNumber()}`]) {
      const stdout = expect.stringContaining('The Worker may still be at work');
      expect(await support(...command.split(' '), '--yes')).toMatchObject({
        code: 1,
        stdout,
      });
      expect(auditLines().at(-1)).toMatchObject({
        command: command.split(' ')[0],
        outcome: 'incomplete',
      });
    }
  });
});

describe('erase', () => {
  it('changes nothing when Stripe cannot confirm that nothing charges again', async ({ phone }) => {
    const sql = 'select id from sessions where user_id = (select id from users where phone = ?)';
    const sessions = () => database.execute({ sql, args: [phone] });
    const { rows } = await sessions();
    await setFault('stripe', { status: 500 });
    const stdout = expect.stringContaining('answered 503');
    expect(await support('erase', phone, '--yes')).toMatchObject({
      code: 1,
      stdout,
    });
    expect(auditLines().at(-1)).toMatchObject({
      command: 'erase',
      outcome: 'incomplete',
    });
    await setFault('stripe', null);
    expect(await tablesWith(phone)).toContain('users');
    expect(rows.length).toBeGreaterThan(0);
    expect((await sessions()).rows).toEqual(rows);
  });

  it('leaves no row that names the user, ends the billing and sends user.deleted', async ({
    phone,
  }) => {
    const { account, stripe } = JSON.parse((await support('export', phone)).stdout);
    const { stdout } = await support('erase', phone, '--yes');
    expect(stdout).toContain(`Erased the basic account of ${phone}`);
    await expect.poll(() => tablesWith(phone, phone.slice(1)), { timeout: 30_000 }).toEqual([]);
    // The stored responses to bot calls expire within a week; their user id no longer exists.
    expect(await tablesWith(account.id, stripe.kept.stripeId)).toEqual(['bot_calls']);
    expect((await eventTypesOf(phone)).at(-1)).toBe('user.deleted');
    const { subscriptions = [] } = await call(`${product.sandboxUrl}/stripe/customers/${phone}`);
    expect(subscriptions.map(({ status }: { status: string }) => status)).not.toContain('active');
  });
});

/** Without a Worker, whose cron job would send the events. */
const services = await startTestServices();
afterAll(() => services.close());

describe('parked events', () => {
  const settings = settingsOf(services.vars)!;
  const db = openDatabase(settings, { requests: 0, unreachable: false });
  const client = services.database;
  const park = (type: string, messageId: string | null, parkedAt: number | null) =>
    client.execute(
      `insert into outbox (phone, body, message_id, due_at, attempts, parked_at) values (?, ?, ?, 0, 3, ?)`,
      [
        '+15551234567',
        JSON.stringify({
          type,
          data: { phone: '+15551234567', messageId },
        }),
        messageId,
        parkedAt,
      ],
    );

  beforeEach(async () => {
    await client.execute('delete from outbox');
    await park('user.deleted', null, 2000);
    await park('chat.message', 'm1', 1000);
    await park('plan.changed', null, null);
  });

  it('lists parked events alone, oldest first, and drops one, but none that still waits', async () => {
    const parked = await parkedEvents(db);
    expect(parked).toMatchObject([
      {
        type: 'chat.message',
        phone: '+15551234567',
        attempts: 3,
        parkedAt: 1000,
      },
      { type: 'user.deleted', parkedAt: 2000 },
    ]);
    expect(await dropParked(db, parked[0]!.seq)).toBe(true);
    expect(await parkedEvents(db)).toEqual([parked[1]]);
    const { rows } = await client.execute('select seq from outbox where parked_at is null');
    expect(await dropParked(db, rows[0]!['seq'] as number)).toBe(false);
  });

  async function settle(verb: string, which: string) {
    return (
      await outbox.run({
        words: [verb, which],
        flags: {},
        db,
        settings,
      })
    ).perform();
  }

  it('retries and drops all, however many there are', async () => {
    await Promise.all(Array.from({ length: 150 }, () => park('plan.changed', null, 3000)));
    expect(await settle('retry', 'all')).toMatchObject({ data: { retry: 152 } });
    await client.execute('update outbox set parked_at = 1');
    expect(await settle('drop', 'all')).toMatchObject({ data: { drop: 153 } });
  });

  it('retries the others when one cannot be opened, and names that one', async () => {
    await sealParkedDeletions(db, {
      ...settings,
      CODE_PEPPER: ['of another time'],
    });
    const { seq } = (await parkedEvents(db)).find(({ sealed }) => sealed)!;
    await client.execute({
      sql: 'update outbox set parked_at = 1 where seq = ?',
      args: [seq],
    });
    const result = await settle('retry', 'all');
    expect(result).toMatchObject({ data: { retry: 1 }, complete: false });
    expect(result.text).toContain(`1 were not: No secret of CODE_PEPPER opens the event ${seq}.`);
    expect(await parkedEvents(db)).toMatchObject([{ seq }]);
  });

  it('sends a sealed deletion again with its number, also after the pepper was rotated', async () => {
    await sealParkedDeletions(db, settings);
    const deletion = (await parkedEvents(db)).find(({ type }) => type === 'user.deleted')!;
    expect(deletion.sealed).toBe(1);
    expect(deletion.phone).not.toContain('5551234567');
    const rotated = (...peppers: string[]) => ({
      db,
      settings: { ...settings, CODE_PEPPER: peppers },
    });
    await expect(retryParked(rotated('new'), deletion.seq, 5000)).rejects.toThrow('CODE_PEPPER');
    expect(await retryParked(rotated('new', ...settings.CODE_PEPPER), deletion.seq, 5000)).toBe(
      true,
    );
    const { rows } = await client.execute({
      sql: 'select * from outbox where seq = ?',
      args: [deletion.seq],
    });
    expect(rows[0]).toMatchObject({
      phone: '+15551234567',
      parked_at: null,
    });
    const event = {
      type: 'user.deleted',
      data: { phone: '+15551234567' },
    };
    expect(JSON.parse(rows[0]!['body'] as string)).toMatchObject(event);
  });
});

it('unclosed lists whom Stripe does not know until the owner closes it, and knows no other', async ({
  phone,
}) => {
  const stripeId = 'select stripe_id from customers join users on id = user_id where phone = ?';
  const { rows } = await database.execute(stripeId, [phone]);
  const customer = rows[0]!['stripe_id'] as string;
  await setFault('stripe', { unknownCustomer: true });
  expect(await support('erase', phone, '--yes')).toMatchObject({ code: 0 });
  expect(await support('unclosed')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(`^${customer}  [^]*End its subscriptions`),
  });
  expect(await supportJson('unclosed')).toContainEqual(expect.objectContaining({ customer }));

  const close = ['unclosed', 'close', customer];
  expect(await support(...close)).toMatchObject(failed(2, /^This would forget .* --yes/m));
  expect(await supportJson(...close, '--yes')).toEqual({ closed: customer });
  expect(await support(...close, '--yes')).toMatchObject(failed(1, 'no such customer'));
  expect(await support('unclosed', 'burn', customer)).toMatchObject({ code: 2 });
  expect(await tablesWith(customer)).toEqual([]);
});

it('unclosed close names the withdrawals that are left to the owner', async ({ phone }) => {
  const stripeId = 'select stripe_id from customers join users on id = user_id where phone = ?';
  const { rows } = await database.execute(stripeId, [phone]);
  const customer = rows[0]!['stripe_id'] as string;
  const token = await signIn(phone);
  await setFault('stripe', { status: 401 });
  const path = `${product.siteUrl}/api/billing/withdrawal`;
  const { statement } = await call(path, 'POST', {}, token);
  expect(await support('erase', phone, '--yes')).toMatchObject({ code: 0 });

  const numberOf = 'select seq from withdrawals where id = ?';
  const { rows: kept } = await database.execute(numberOf, [statement.id]);
  const left = `withdrawal ${Number(kept[0]!['seq'])} is left to you`;
  const close = ['unclosed', 'close', customer];
  expect(await support(...close)).toMatchObject(failed(2, left));
  const closed = await support(...close, '--yes');
  expect(closed).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(left),
  });
  expect(await tablesWith(customer)).toEqual([]);
});

describe('withdrawals', () => {
  /** The number of a statement that somebody made without signing in. */
  const statement = async (contact: string) => {
    const stated = { name: 'Ada Lovelace', contact, plan: 'Basic' };
    const { statement } = await call(`${product.siteUrl}/api/withdrawals`, 'POST', stated);
    const sql = 'select seq from withdrawals where id = ?';
    const { rows } = await database.execute({
      sql,
      args: [statement.id],
    });
    return String(Number(rows[0]!['seq']));
  };
  const stateOf = async (seq: string) => {
    await runMinuteCron(product.siteUrl);
    return (await supportJson('withdrawals', 'show', seq))['state'];
  };

  it('lists and shows what waits, and gives a statement to an account, which ends its contract', async () => {
    const phone = newNumber();
    const token = await signIn(phone);
    const buying = `${product.siteUrl}/api/billing/create-subscription-update-session`;
    const { portalUrl } = await call(buying, 'POST', { tier: 'basic' }, token);
    await fetch(portalUrl, {
      method: 'POST',
      body: new URLSearchParams(),
      redirect: 'manual',
    });
    await call(`${product.sandboxUrl}/stripe/clock`, 'POST', { advanceSeconds: 0 });

    const seq = await statement('ada@example.com');
    await expect.poll(() => stateOf(seq), { timeout: 30_000 }).toBe('needs_owner');
    expect((await support('withdrawals')).stdout).toContain('needs_owner (account_unknown)');
    const shown = await support('withdrawals', 'show', seq);
    expect(shown.stdout).toContain('ada@example.com');

    // A row that is older than the rule that a name is one line of text.
    const older = `insert into withdrawals (id, origin, name, contact, language, submitted_at, kept_until, receipt, state)
      select id || '-older', origin, 'Ada \u001b[2J Lovelace', contact, language, submitted_at, kept_until,
        replace(receipt, 'Ada', 'Ada \u001b[2J'), 'done'
      from withdrawals where seq = ? returning seq`;
    const { rows } = await database.execute({ sql: older, args: [seq] });
    const shownOlder = await support('withdrawals', 'show', String(Number(rows[0]!['seq'])));
    expect(shownOlder.stdout).toContain('Lovelace');
    expect(shownOlder.stdout).not.toContain('\u001b');

    const match = ['withdrawals', 'match', seq, phone];
    expect(await support(...match)).toMatchObject(failed(2, /^This would withdraw .* --yes/m));
    expect(await supportJson(...match, '--yes')).toEqual({ matched: Number(seq) });
    await expect.poll(() => stateOf(seq), { timeout: 30_000 }).toBe('done');
    expect(await supportJson('withdrawals', 'show', seq)).toMatchObject({ refund: 1199 });
    expect(await support(...match, '--yes')).toMatchObject(failed(1, 'is done'));
  });

  it('changes no statement that its person has stopped since it was read', async () => {
    const phone = newNumber();
    const token = await signIn(phone);
    const seq = await statement(phone);
    const other = newNumber();
    await writeToAssistant(other);
    const commands = [
      ['complete', seq],
      ['match', seq, other],
    ];
    const ofNobody = await support('withdrawals', 'match', seq, other);
    const mayBeNone = `withdraw the account of \\${other}, which has no plan now, from what it bought, if`;
    expect(ofNobody).toMatchObject(failed(2, mayBeNone));
    const actions = [];
    for (const words of commands) actions.push(await withdrawalCommand.run(requestOf(...words)));
    const { id } = await supportJson('withdrawals', 'show', seq);
    const objection = `${product.siteUrl}/api/billing/withdrawal/objection`;
    expect(await call(objection, 'POST', { id }, token)).toEqual({ success: true });
    for (const { perform } of actions)
      await expect(perform()).rejects.toThrow('has changed meanwhile');
    const objected = { state: 'needs_owner', reason: 'objected' };
    expect(await supportJson('withdrawals', 'show', seq)).toMatchObject(objected);
  });

  it('ends a statement whose money was given back by hand, and knows no other number', async () => {
    const seq = await statement('grace@example.com');
    const complete = ['withdrawals', 'complete', seq];
    expect(await support(...complete)).toMatchObject(failed(2, /^This would say .* --yes/m));
    expect(await supportJson(...complete, '--yes')).toEqual({ completed: Number(seq) });
    expect(await stateOf(seq)).toBe('done');
    expect(await support('withdrawals', 'show', '999999')).toMatchObject(failed(1, 'No statement'));
    expect(await support('withdrawals', 'burn', seq)).toMatchObject({ code: 2 });
  });
});
