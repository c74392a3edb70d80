import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createClient } from '@libsql/client/web';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consentVersion } from '../../worker/contract/chat-limits.ts';
import { until } from '../api/support/clock.ts';
import { runMinuteCron, startProduct } from '../product/start-product.ts';
import { createApi } from '../sandbox/bot/calls.ts';
import { businessUserIdOf } from '../sandbox/setup.ts';
import { call, newNumber, ownEnvironment } from './test-product.ts';

const folder = mkdtempSync(join(tmpdir(), 'solace-restore-'));
const auditFile = join(folder, 'audit.jsonl');
/** The database with its journal. */
const databaseFiles = ['solace.db', 'solace.db-wal', 'solace.db-shm'];
const day = 24 * 60 * 60;
let starts = 0;
const folderOf = (count: number) => join(folder, `state-${count}`);

/** The folder of the next start, with all that the last one has left, and the database of an earlier one. */
function nextFolder(databaseOf?: number): string {
  const [last, next] = [folderOf(starts), folderOf(starts + 1)];
  starts += 1;
  if (existsSync(last)) cpSync(last, next, { recursive: true });
  if (databaseOf === undefined) return next;
  const [from, to] = [join(folderOf(databaseOf), 'sandbox'), join(next, 'sandbox')];
  for (const file of databaseFiles) rmSync(join(to, file), { force: true });
  for (const file of databaseFiles.filter((each) => existsSync(join(from, each))))
    cpSync(join(from, file), join(to, file));
  return next;
}

type Product = Awaited<ReturnType<typeof start>>;

/** The product on the state that the last one has left, with what its people do. */
async function start(databaseOf?: number) {
  const stateDir = nextFolder(databaseOf);
  const product = await startProduct({
    stateDir,
    varsFile: join(folder, 'vars'),
    build: false,
  });
  const { siteUrl, sandboxUrl, vars } = product;
  const url = {
    url: vars.TURSO_DATABASE_URL,
    authToken: vars.TURSO_AUTH_TOKEN,
  };
  const database = createClient(url);
  const api = (method: string, path: string, body?: object, token?: string) =>
    call(`${siteUrl}${path}`, method, body, token);
  const callAsBot = createApi(siteUrl, vars.BOT_WEBHOOK_SECRET);
  const write = (phone: string) =>
    call(`${sandboxUrl}/phones/${phone}/messages`, 'POST', { text: 'Hi' });

  async function codeOn(phone: string): Promise<string> {
    const path = `${sandboxUrl}/phones/${phone}/messages`;
    const codes = async () =>
      (await call<{ code?: string }[]>(path)).flatMap(({ code }) => code ?? []);
    return (await until('a code', codes, ({ length }) => length > 0)).at(-1)!;
  }

  async function signIn(phone: string): Promise<string> {
    await write(phone);
    const { challenge } = await api('POST', '/api/auth/request-otp', { phone });
    const code = { phone, otp: await codeOn(phone), challenge };
    return (await api('POST', '/api/auth/verify-otp', code)).token;
  }

  async function move(token: string, phone: string): Promise<void> {
    const { challenge } = await api('POST', '/api/user/phone', { phone }, token);
    const code = { phone, otp: await codeOn(phone), challenge };
    const moved = await api('POST', '/api/user/phone/verify', code, token);
    expect(moved).toMatchObject({ success: true });
  }

  async function buy(token: string, startNow = false): Promise<void> {
    const path = '/api/billing/create-subscription-update-session';
    const { portalUrl } = await api('POST', path, { tier: 'basic', startNow }, token);
    await fetch(portalUrl, {
      method: 'POST',
      body: new URLSearchParams(),
      redirect: 'manual',
    });
    await call(`${sandboxUrl}/stripe/clock`, 'POST', { advanceSeconds: 0 });
    await until(
      'the plan',
      () => tierOf(token),
      (tier) => tier === 'basic',
    );
  }

  const tierOf = async (token: string) =>
    (await api('GET', '/api/user/me', undefined, token)).profile.metadata.subscriptionTier;
  const consent = (token: string) =>
    api('PUT', '/api/user/chat/consent', { version: consentVersion }, token);
  async function say(token: string, text: string): Promise<void> {
    const message = { id: crypto.randomUUID(), text };
    const sent = await api('POST', '/api/user/chat/messages', message, token);
    expect(sent).toMatchObject({ success: true });
  }
  const isTold = () =>
    until(
      'everything told',
      async () => (await database.execute('select 1 from outbox')).rows.length,
      (waiting) => waiting === 0,
    );

  const afterRestore = (...args: string[]) =>
    run('after-restore/after-restore-command.ts', args, auditFile);
  const support = (...args: string[]) =>
    run('support/support-command.ts', args, join(folder, 'support.jsonl'));

  async function refunds(): Promise<number> {
    const url = `${vars.STRIPE_API_BASE}/v1/refunds?limit=100`;
    return (await call<{ data: unknown[] }>(url, 'GET', undefined, vars.STRIPE_SECRET_KEY)).data
      .length;
  }

  /** Runs a command in a process of its own. */
  async function run(name: string, args: string[], audit: string) {
    const file = `worker/operations/${name}`;
    const env = {
      ...ownEnvironment,
      ...vars,
      APPROVAL: 'manual',
      SUPPORT_AUDIT_FILE: audit,
    };
    type Ran = { code: number; stdout: string; stderr: string };
    return promisify(execFile)(process.execPath, ['.ci/require-node.js', file, ...args], { env })
      .then((output): Ran => ({ code: 0, ...output }))
      .catch((failed: Ran) => failed);
  }

  async function close(): Promise<void> {
    database.close();
    await product.close();
  }

  const advance = (phone: string, advanceSeconds: number) =>
    call(`${sandboxUrl}/stripe/clock`, 'POST', { advanceSeconds, phone });

  const acts = {
    api,
    callAsBot,
    write,
    signIn,
    move,
    buy,
    advance,
    tierOf,
    consent,
    say,
  };
  const looks = { database, isTold, refunds };
  return {
    ...product,
    ...acts,
    ...looks,
    afterRestore,
    support,
    close,
  };
}

/** All rows of the database, but what grows by looking, and what the cron job ends a minute later. */
async function dump({ database }: Product): Promise<string> {
  const tables = "select name from sqlite_master where type = 'table' and name not like 'sqlite%'";
  const names = (await database.execute(tables)).rows.map((row) => row['name'] as string);
  const rows: Record<string, unknown> = {};
  for (const name of names) {
    if (['customers', 'rate_limit_events', 'chat_erasures'].includes(name)) continue;
    rows[name] = (await database.execute(`select * from "${name}"`)).rows;
  }
  return JSON.stringify(rows);
}

/** What was due is done then, so that the cron job of a later minute changes no row. */
async function untilCronRests(product: Product): Promise<void> {
  const changes = async () => {
    const before = await dump(product);
    await runMinuteCron(product.siteUrl);
    return before !== (await dump(product));
  };
  await until('the cron job at rest', changes, (hasChanged) => !hasChanged);
}

describe('after the database was put back', { tags: ['full'] }, () => {
  const people = {
    thiefs: newNumber(),
    mover: newNumber(),
    target: newNumber(),
    payer: newNumber(),
    comer: newNumber(),
    leaver: newNumber(),
    withdrawer: newNumber(),
    suspended: newNumber(),
    invited: newNumber(),
    reinvited: newNumber(),
    loser: newNumber(),
    finder: newNumber(),
    objector: newNumber(),
    refunded: newNumber(),
    one: newNumber(),
    other: newNumber(),
    between: newNumber(),
    circler: newNumber(),
    away: newNumber(),
    next: newNumber(),
    late: newNumber(),
    latest: newNumber(),
    linked: newNumber(),
    settled: newNumber(),
  };
  const { thiefs, mover, target, payer, comer, leaver, withdrawer, suspended, invited } = people;
  const { objector, refunded, reinvited, loser, finder, settled } = people;
  const { one, other, between, circler, away, next, late, latest, linked } = people;
  /** In a circle: two people exchange their numbers, and one comes back to theirs. */
  const moves = [
    [one, between],
    [circler, away],
    [other, one],
    [between, other],
    [away, circler],
  ] as const;
  let ids: Record<'one' | 'other' | 'circler', string>;
  let product: Product;
  let at: string;
  let thief: string;
  let trialToken: string;
  let linkCode: string;

  beforeAll(async () => {
    product = await start();
    thief = await product.signIn(thiefs);
    const moving = await product.signIn(mover);
    await product.consent(moving);
    await product.say(moving, 'Written before');
    const withdrawing = await product.signIn(withdrawer);
    await product.consent(withdrawing);
    const [paying, leaving] = [await product.signIn(payer), await product.signIn(leaver)];
    const [objecting, refunding] = [await product.signIn(objector), await product.signIn(refunded)];
    for (const token of [objecting, refunding]) await product.buy(token);
    const settling = await product.signIn(settled);
    await product.buy(settling, true);
    const stated = {
      name: 'Ada Lovelace',
      contact: objector,
      plan: 'Basic',
    };
    const { statement } = await product.api('POST', '/api/withdrawals', stated);
    for (const phone of [suspended, reinvited, invited, one, other, circler, late])
      await product.write(phone);
    const shown = await product.api('POST', '/api/auth/request-otp', { phone: linked });
    linkCode = shown.linkCode;
    ids = {
      one: await idOf(one),
      other: await idOf(other),
      circler: await idOf(circler),
    };
    const setStatus = (phone: string, status: string) =>
      call(`${product.sandboxUrl}/phones/${phone}/status`, 'POST', { status });
    for (const phone of [reinvited, late]) await setStatus(phone, 'pending');
    const named = {
      phone: loser,
      businessUserId: businessUserIdOf(loser.slice(1)),
    };
    await product.callAsBot('/api/bot/contacts', named);
    const link = `${product.sandboxUrl}/phones/${invited}/trial`;
    const { url } = await call(link, 'POST', {
      tier: 'premium',
      days: 3,
    });
    trialToken = new URL(url).searchParams.get('token')!;
    // Stripe is out of reach until the end, so that it stays open; the local cron job leaves it then.
    await call(`${product.sandboxUrl}/faults`, 'PUT', { stripe: { status: 503 } });
    const own = await product.api('POST', '/api/billing/withdrawal', {}, refunding);
    expect(own).toMatchObject({ statement: { state: 'received' } });
    const later = "update withdrawals set due_at = 9e15 where origin = 'account'";
    await product.database.execute(later);
    await product.isTold();
    await product.close();
    // The live objects know the time to the second; nobody does anything before the next start.
    at = new Date(1000 * Math.ceil(Date.now() / 1000)).toISOString();

    product = await start();
    await call(`${product.sandboxUrl}/faults`, 'PUT', { stripe: null });
    const { api } = product;
    await api('POST', '/api/auth/logout', { everywhere: true }, thief);
    const begun = await api('POST', '/auth/verify-trial-token', { trialToken });
    expect(begun).toMatchObject({ success: true });
    await product.move(moving, target);
    await product.say(moving, 'Written since');
    await product.buy(paying);
    await product.buy(await product.signIn(comer));
    for (const status of ['pending', 'approved']) await setStatus(comer, status);
    await api('DELETE', '/api/user/me', undefined, leaving);
    await api('DELETE', '/api/user/chat/consent', undefined, withdrawing);
    const objection = '/api/billing/withdrawal/objection';
    // The cron job may hold the lease of the customer.
    const object = () => api('POST', objection, { id: statement.id }, objecting);
    await until('the objection', object, ({ success }) => success);
    await product.database.execute("update withdrawals set due_at = 1 where origin = 'account'");
    const stateOf = async () => {
      await runMinuteCron(product.siteUrl);
      return (await api('GET', '/api/billing/withdrawal', undefined, refunding)).statement?.state;
    };
    await until('the refund', stateOf, (state) => state === 'done');
    await product.advance(settled, 2 * day);
    const ended = await api('POST', '/api/billing/withdrawal', {}, settling);
    expect(ended).toMatchObject({ statement: { state: 'done' } });
    await setStatus(suspended, 'pending');
    for (const status of ['approved', 'pending', 'approved']) await setStatus(reinvited, status);
    for (const [from, to] of [[loser, finder] as const, ...moves]) await moveBySupport(from, to);
    await setStatus(one, 'pending');
    await product.isTold();
    // The bot hears of an approval only when its person has another number.
    await call(`${product.sandboxUrl}/faults`, 'PUT', { bot: { status: 503 } });
    await setStatus(late, 'approved');
    expect(await product.support('move', late, latest, '--yes')).toMatchObject({ code: 0 });
    await call(`${product.sandboxUrl}/faults`, 'PUT', { bot: null });
    await product.database.execute('update outbox set due_at = 0');
    await runMinuteCron(product.siteUrl);
    await product.isTold();
    await product.close();

    product = await start(1);
    await untilCronRests(product);
  });

  async function idOf(phone: string): Promise<string> {
    const sql = 'select id from users where phone = ?';
    return (
      await product.database.execute({
        sql,
        args: [phone],
      })
    ).rows[0]!['id'] as string;
  }

  async function moveBySupport(from: string, to: string): Promise<void> {
    expect(await product.support('move', from, to, '--yes')).toMatchObject({ code: 0 });
    // The bot is told of each with the number that it has then.
    await product.isTold();
  }

  async function numbersNow() {
    const sql = `select id, phone || ' ' || status as now from users where id in (?, ?, ?)`;
    const { rows } = await product.database.execute({
      sql,
      args: Object.values(ids),
    });
    return new Map(rows.map(({ id, now }) => [id, now]));
  }

  afterAll(async () => {
    await product.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('refuses a time that cannot be, with a sentence, and changes nothing', async () => {
    const before = await dump(product);
    const refused = [
      [['--at', '2999-01-01T00:00:00Z'], 2, /in the future/],
      [['--at', 'yesterday'], 2, /with its zone/],
      [[], 2, /with its zone/],
      [['--at', '2020-01-01T00:00:00Z'], 1, /Nobody had an account then.*Nothing was changed/],
      [['--at', at, 'now'], 2, /There is no place for "now"/],
    ] as const;
    for (const [args, code, said] of refused)
      expect(await product.afterRestore(...args)).toMatchObject({
        code,
        stderr: expect.stringMatching(said),
      });
    expect(await dump(product)).toBe(before);
  });

  it('lists what it would do, and does nothing of it', async () => {
    const before = await dump(product);
    const { code, stdout } = await product.afterRestore('--at', at, '--dry-run');
    expect(code, stdout).toBe(0);
    for (const line of [
      `${mover} had moved to ${target}: moved again`,
      `${leaver} had left: deleted again`,
      `${withdrawer} had withdrawn the consent: withdrawn again`,
      `${suspended} was pending: set again`,
      /has the customer cus_\w+: adopted/,
      new RegExp(`\\${comer} came since and pays as cus_\\w+: the account exists again`),
      '1 trial link that may have been used since: ended',
      /statement \d+ of \S+ \(public\) was received: it waits for you/,
      /statement \d+ of \S+ \(account\) was received: it waits for you/,
      `${refunded} was told that 11.99 USD are on their way: do not pay them again`,
      'What nobody can know any more:',
    ])
      if (typeof line === 'string') expect(stdout).toContain(line);
      else expect(stdout).toMatch(line);
    expect(await dump(product)).toBe(before);
  });

  it('repeats what people had ended, and charges nobody without a plan', async () => {
    const { api, siteUrl } = product;
    // The bot is out of reach at first: what it knows is repeated by the next run.
    await call(`${product.sandboxUrl}/faults`, 'PUT', { bot: { status: 503 } });
    const first = await product.afterRestore('--at', at);
    expect(first).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/bot answered 503/),
    });
    // Then the database fails at one of the moves, after others were repeated.
    const fault = { status: 503, match: ids.other };
    await call(`${product.sandboxUrl}/faults`, 'PUT', {
      bot: null,
      libsql: fault,
    });
    expect(await product.afterRestore('--at', at)).toMatchObject({ code: 1 });
    await call(`${product.sandboxUrl}/faults`, 'PUT', { libsql: null });
    expect((await numbersNow()).get(ids.one)).toBe(`${between} approved`);
    const { code, stdout } = await product.afterRestore('--at', at);
    expect(code, stdout).toBe(0);
    expect(stdout).toMatch(/sessions: done on/);
    for (const [from, to] of moves)
      expect(stdout).toContain(`${from} had moved to ${to}: moved again`);
    for (let run = 0; run < 2; run += 1) await runMinuteCron(siteUrl);

    const me = (token: string) => api('GET', '/api/user/me', undefined, token);
    expect(await me(thief)).toMatchObject({ code: 'unauthenticated' });
    const again = await api('POST', '/auth/verify-trial-token', { trialToken });
    expect(again).toMatchObject({ code: 'invalid_token' });
    const unknown = { requiresInitialContact: true };
    for (const phone of [mover, leaver])
      expect(await api('POST', '/api/auth/request-otp', { phone }), phone).toMatchObject(unknown);

    const moved = await product.signIn(target);
    const { messages } = await api('GET', '/api/user/chat', undefined, moved);
    const own = (messages as { author: string; text: string }[]).filter(
      ({ author }) => author === 'user',
    );
    expect(own.map(({ text }) => text)).toEqual(['Written before']);
    const withdrawn = await product.signIn(withdrawer);
    expect(await api('GET', '/api/user/chat', undefined, withdrawn)).toMatchObject({
      consent: null,
      messages: [],
    });
    expect(await me(await product.signIn(suspended))).toMatchObject({
      profile: { status: 'pending' },
    });
    for (const phone of [payer, comer]) {
      const token = await product.signIn(phone);
      expect(await me(token), phone).toMatchObject({ profile: { status: 'approved' } });
      await until(
        'the plan',
        () => product.tierOf(token),
        (tier) => tier === 'basic',
      );
    }
  });

  it('repeats the last approval of each person, and drops the id that support had dropped', async () => {
    const { rows } = await product.database.execute({
      sql: `select phone, status,
          (select count(*) from aliases where user_id = users.id and kind = 'business') as ids
        from users where phone in (?, ?, ?) order by phone`,
      args: [reinvited, finder, latest],
    });
    expect(rows).toMatchObject([
      { phone: reinvited, status: 'approved' },
      { phone: finder, ids: 0 },
      { phone: latest, status: 'approved' },
    ]);
  });

  it('ends the link codes that were shown before, which may have been used since', async () => {
    const businessUserId = businessUserIdOf(linked.slice(1));
    const claim = product.callAsBot('/api/bot/contacts', {
      businessUserId,
      linkCode,
    });
    await expect(claim).rejects.toThrow(/400|linkCode/);
  });

  it('repeats moves in a circle once, however often it is interrupted, and none of later', async () => {
    const after = new Map([
      [ids.one, `${other} approved`],
      [ids.other, `${one} pending`],
      [ids.circler, `${circler} approved`],
    ]);
    expect(await numbersNow()).toEqual(after);
    const interrupt = () =>
      product.database.execute(`delete from used_tokens where id like 'restore:%:events'`);
    await interrupt();
    expect(await product.afterRestore('--at', at)).toMatchObject({ code: 0 });
    expect(await numbersNow()).toEqual(after);

    // What people do now is told to the bot, too.
    await moveBySupport(other, next);
    await moveBySupport(one, other);
    await moveBySupport(next, away);
    const now = new Map([...after, [ids.one, `${away} approved`], [ids.other, `${other} pending`]]);
    expect(await numbersNow()).toEqual(now);
    await interrupt();
    expect(await product.afterRestore('--at', at)).toMatchObject({ code: 0 });
    expect(await numbersNow()).toEqual(now);
  });

  it('leaves every open statement of withdrawal to the owner, and pays none twice', async () => {
    const { rows } = await product.database.execute(
      'select seq, origin, state, reason, due_at from withdrawals order by origin',
    );
    const waits = {
      state: 'needs_owner',
      reason: 'restored',
      due_at: null,
    };
    expect(rows).toMatchObject([
      { origin: 'account', ...waits },
      { origin: 'public', ...waits },
    ]);
    expect(await product.tierOf(await product.signIn(objector))).toBe('basic');

    // The owner may let it go on: its refund at Stripe is found by its id.
    const seq = String(Number(rows[0]!['seq']));
    const before = await product.refunds();
    const matched = await product.support('withdrawals', 'match', seq, refunded, '--yes');
    expect(matched).toMatchObject({ code: 0 });
    const stateOf = async () => {
      await runMinuteCron(product.siteUrl);
      const sql = 'select state from withdrawals where seq = ?';
      return (
        await product.database.execute({
          sql,
          args: [seq],
        })
      ).rows[0]!['state'];
    };
    await until('the statement', stateOf, (state) => state === 'done');
    expect(before).toBe(2);
    expect(await product.refunds()).toBe(before);
  });

  it('withdraws no contract again whose statement is lost', async () => {
    const path = '/api/billing/withdrawal';
    const token = await product.signIn(settled);
    await product.advance(settled, day);
    const before = await product.refunds();
    expect(await product.api('GET', path, undefined, token)).toMatchObject({ contract: null });
    expect(await product.api('POST', path, {}, token)).toMatchObject({ code: 'conflict' });
    expect(await product.refunds()).toBe(before);
  });

  it('does the same twice as once, and leaves an audit line without a number', async () => {
    await product.isTold();
    const erasures = async () =>
      (await product.database.execute('select user_id from chat_erasures')).rows.map(
        (row) => row['user_id'],
      );
    const erased = await erasures();
    const before = await dump(product);
    const { code, stdout } = await product.afterRestore('--at', at);
    expect(code, stdout).toBe(0);
    expect(stdout.match(/done on .* already/g)).toHaveLength(6);
    expect(await dump(product)).toBe(before);
    expect(erased).toEqual(expect.arrayContaining(await erasures()));
    const lines = readFileSync(auditFile, 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).outcome)).toEqual([
      'started',
      'incomplete',
      'started',
      'incomplete',
      'started',
      'done',
      'started',
      'done',
      'started',
      'done',
      'started',
      'done',
    ]);
    for (const phone of Object.values(people)) expect(lines.join('')).not.toContain(phone);
  });
});
