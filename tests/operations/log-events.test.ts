import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseSync, Visitor, type ESTree } from 'vite';
import { createClient } from '@libsql/client/sqlite3';
import { describe, expect, it, afterAll } from 'vitest';
import {
  type Alert,
  alerts,
  alertList,
  dutyTable,
  eventPage,
} from '../../worker/operations/alerts/alerts.ts';
import { logEvents } from '../../worker/operations/alerts/log-events.ts';
import { whoMustAct } from '../../worker/operations/alerts/who-must-act.ts';
import { advice } from '../../worker/operations/support/advice.ts';
import { alertRules, dashboard } from '../../worker/operations/alerts/grafana.ts';
import { readQuestions } from '../../worker/operations/report/report.ts';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { pauseAfter } from '../../worker/billing/sync-times.ts';
import { startTestServices } from '../product/start-product.ts';
import { ownEnvironment, serve } from './test-product.ts';

const worker = fileURLToPath(new URL('../../worker/', import.meta.url));

/** The names in an object literal, those of its spreads included, or those that `describeError` returns. */
function fieldsIn(node: ESTree.Node): string[] {
  if (node.type === 'CallExpression') return ['error', 'code', 'at'];
  if (node.type === 'LogicalExpression') return fieldsIn(node.right);
  if (node.type === 'ConditionalExpression')
    return [node.consequent, node.alternate].flatMap(fieldsIn);
  if (node.type !== 'ObjectExpression')
    throw new Error(`The fields of a line of the log are a ${node.type}`);
  return node.properties.flatMap((each) =>
    each.type === 'SpreadElement'
      ? fieldsIn(each.argument)
      : [(each.key as ESTree.IdentifierName).name],
  );
}

/** The events that the Worker writes, with the fields and levels that all its lines together may have. */
const written = new Map<
  string,
  {
    fields: Set<string>;
    levels: Set<string>;
  }
>();
for (const name of readdirSync(worker, {
  recursive: true,
  encoding: 'utf8',
})) {
  if (!name.endsWith('.ts') || name.startsWith('operations/')) continue;
  const source = readFileSync(`${worker}${name}`, 'utf8');
  const textsIn = ({ start, end }: ESTree.Node) =>
    [...source.slice(start, end).matchAll(/'(\w+)'/g)].map(([, text = '']) => text);
  new Visitor({
    CallExpression({ callee, arguments: [level, names, fields] }) {
      if (callee.type !== 'Identifier' || callee.name !== 'log') return;
      const levels = textsIn(level!);
      for (const event of textsIn(names!)) {
        const { fields: known, levels: seen } = written.get(event) ?? {
          fields: [],
          levels: [],
        };
        const all = levels.length > 0 ? levels : ['info', 'error'];
        written.set(event, {
          fields: new Set([...known, ...fieldsIn(fields!)]),
          levels: new Set([...seen, ...all]),
        });
      }
    },
  }).visit(parseSync(name, source, { preserveParens: false }).program);
}

describe('the list of log events', () => {
  it('has every event that the code writes, and no other', () => {
    expect(written.size).toBeGreaterThan(20);
    expect(Object.keys(logEvents).toSorted()).toEqual([...written.keys()].toSorted());
  });

  it.each([...written])('has the fields and levels of %s', (name, { fields, levels }) => {
    const event = logEvents[name];
    // The one call that writes both gives `unexpected` to the second alone.
    const expected = [...fields].filter(
      (field) => name !== 'request_completed' || field !== 'unexpected',
    );
    expect(event?.fields.toSorted()).toEqual(expected.toSorted());
    if (!name.startsWith('request_')) expect(new Set(event?.levels)).toEqual(levels);
  });

  it.each(Object.entries(logEvents))('says in a sentence what %s means', (name, { meaning }) => {
    expect(meaning).toMatch(/^[A-Z`8].{30,}\.$/);
    expect(eventPage(name)).toContain(`${name} (`);
    expect(eventPage(name)).toContain(meaning);
  });
});

it.each(alerts)('$name asks for events that the Worker writes', ({ query }) => {
  for (const [, names = ''] of query.matchAll(/event=~?"([\w|]+)"/g))
    for (const event of names.split('|')) expect([...written.keys()]).toContain(event);
});

describe('the list of what somebody must act on', () => {
  const duties = new Map(whoMustAct.map((duty) => [duty.event, duty]));
  const errors = [...written].filter(([, { levels }]) => levels.has('error') || levels.has('warn'));

  it('has every line of level error or warn that the Worker writes, and no event that it does not', () => {
    expect(errors.length).toBeGreaterThan(25);
    const missing = errors.map(([event]) => event).filter((event) => !duties.has(event));
    expect(missing).toEqual([]);
    expect([...duties.keys()].filter((event) => !written.has(event))).toEqual([]);
  });

  it.each(whoMustAct)('$event has its alarm, its advice and its sentence', (duty) => {
    const rule = alerts.find(({ name }) => name === duty.alert);
    const asked = new Set(
      [...(rule?.query ?? '').matchAll(/event=~?"([\w|]+)"/g)].flatMap(([, names = '']) =>
        names.split('|'),
      ),
    );
    expect(asked).toContain(duty.event);
    if (duty.advice) expect(advice[duty.advice]).toMatch(/^[A-Z].{20,}\.$/);
    expect(duty.person.length).toBeGreaterThan(5);
  });

  it.each([
    ['a refused plan after a trial', 'trial_plan_refused', 'planRefused'],
    ['a refund without an end', 'payment_refunded', 'refunded'],
    ['a doubled subscription', 'subscription_doubled', 'doubled'],
    ['a dead token of WhatsApp', 'whatsapp_forbidden', null],
    ['the clock of the bot', 'bot_refused', null],
    ['a missing template', 'template_missing', null],
    ['a day without an event of Stripe', 'request_completed', 'outOfDate'],
  ])('has %s', (_, event, name) => {
    expect(duties.get(event)?.advice).toBe(name);
  });

  it.each(whoMustAct)('$event is a row of what `npm run alerts -- duties` prints', (duty) => {
    const row = dutyTable()
      .split('\n')
      .find((line) => line.startsWith(`| \`${duty.event}\` `));
    const rule = alerts.find(({ name }) => name === duty.alert)!;
    for (const part of [duty.who, duty.alert, rule.meaning, rule.urgency, duty.person])
      expect(row).toContain(part);
    expect(eventPage(duty.event)).toContain(`who must act: ${duty.who}`);
  });

  it('is named in the runbook, by the commands that print it', () => {
    const runbook = readFileSync(`${worker}docs/runbook.md`, 'utf8');
    expect(runbook).toContain('`npm run alerts -- duties`');
    expect(runbook).toContain('`npm run alerts -- events`');
  });
});

type Line = {
  at: number;
  event: string;
  [field: string]: string | number;
};
const minute = 60_000;
const hour = 60 * minute;

function fits(line: Line, condition: string): boolean {
  const [, field = '', how, value = ''] = /^(\w+)(=~|!~|>=|=)"?([^"]*)"?$/.exec(condition)!;
  const found = line[field];
  if (how === '>=') return Number(found) >= Number(value);
  if (how === '=') return String(found) === value;
  return new RegExp(`^(${value})$`).test(String(found)) === (how === '=~');
}

const arithmetic = createClient({ url: ':memory:' });

/** The alerts without a quantile that fire at an instant, with SQLite for the arithmetic of LogQL. */
async function firing(lines: Line[], now: number): Promise<string[]> {
  const isAbove = async ({ query, threshold }: Alert) => {
    const count = (filter: string, minutes: string, days = '0') => {
      const to = now - Number(days) * 24 * hour;
      const recent = lines.filter(({ at }) => at <= to && at > to - Number(minutes) * minute);
      return `${recent.filter((line) => filter.split(' | ').every((condition) => fits(line, condition))).length}.0`;
    };
    const counting =
      /sum\(count_over_time\(LOGS \| (.+?) \[(\d+)m\](?: offset (\d+)d)?\)\)(?: or vector\(0\))?/g;
    const sum = query.replaceAll(counting, (_, ...parts: [string, string, string?]) =>
      count(...parts),
    );
    const { rows } = await arithmetic.execute(
      `select (${sum.replaceAll('== bool', '=')}) > ${threshold} as fires`,
    );
    return rows[0]!['fires'] === 1;
  };
  const counts = alerts.filter(({ query }) => !query.startsWith('quantile'));
  const fires = await Promise.all(counts.map(isAbove));
  return counts.filter((_, index) => fires[index]).map(({ name }) => name);
}

describe('the alerts', () => {
  const now = Date.UTC(2026, 10, 25, 12);
  const times = (count: number, line: Line) => Array.from({ length: count }, () => line);
  const call = {
    at: now,
    event: 'request_completed',
    route: '/api/bot/usage',
    status: 200,
  };

  it('compare failed calls with all calls, and no lines of another kind', async () => {
    const refused = {
      at: now,
      event: 'whatsapp_refused',
      status: 503,
    };
    expect(await firing([...times(100, call), ...times(3, refused)], now)).toEqual([]);
    const failed = { at: now, event: 'request_failed', status: 500 };
    expect(await firing(times(3, failed), now)).toContain('Calls fail');
    expect(await firing([...times(199, call), failed], now)).not.toContain('Calls fail');
    expect(await firing([...times(99, call), ...times(2, failed)], now)).toContain('Calls fail');
  });

  it('say that the bot is silent when it was not at that time of the day before', async () => {
    const dayBefore = times(20, {
      ...call,
      at: now - 24 * hour - 10 * minute,
    });
    expect(await firing(dayBefore, now)).toEqual(['The bot is silent']);
    expect(await firing([...dayBefore, call], now)).toEqual([]);
    expect(
      await firing(
        times(20, {
          ...call,
          at: now - 24 * hour + 10 * minute,
        }),
        now,
      ),
    ).toEqual([]);
  });

  it('say that no event of Stripe has come for a day, where more came the day before', async () => {
    const event = { ...call, route: '/api/webhooks/stripe' };
    const dayBefore = times(11, { ...event, at: now - 30 * hour });
    expect(await firing(dayBefore, now)).toEqual(['Stripe is silent']);
    expect(await firing([...dayBefore, { ...event, status: 400 }], now)).toEqual([
      'Stripe is silent',
    ]);
    expect(await firing([...dayBefore, event], now)).toEqual([]);
    expect(await firing(dayBefore.slice(1), now)).toEqual([]);
  });

  it.each(['reviewDisputes', 'reviewAccounts', 'rewrapChatKeys'])(
    'name %s, which fails each hour',
    async (task) => {
      const failure = { at: now, event: 'task_failed', task };
      expect(await firing([failure], now + minute)).toEqual([]);
      const hourly = [failure, { ...failure, at: now - hour }];
      expect(await firing(hourly, now + minute)).toEqual(['An hourly task fails']);
      expect(readFileSync(`${worker}scheduled.ts`, 'utf8')).toContain(`${task}: `);
    },
  );

  it.each([
    ['stripe_refused', { status: 400 }, ['Stripe refuses somebody']],
    ['stripe_refused', { status: 402 }, ['Stripe refuses somebody']],
    ['stripe_refused', { status: 401 }, ['Stripe refuses us']],
    ['stripe_refused', { status: 403 }, ['Stripe refuses us']],
    ['stripe_refused', { status: 429 }, []],
    ['bot_refused', { reason: 'time' }, ['The clock of the bot is wrong']],
    ['bot_refused', { reason: 'signature' }, []],
    ['template_missing', {}, ['A template is missing']],
    ['trial_plan_refused', {}, ['A plan after a trial is refused']],
    ['payment_refunded', { level: 'error' }, ['A refund ends nothing']],
    ['payment_refunded', { level: 'info' }, []],
    ['whatsapp_forbidden', { status: 401 }, ['WhatsApp refuses us']],
    ['customer_unclosed', {}, ['Somebody who left may be charged']],
    ['database_refused', { code: 'BLOCKED' }, ['The database refuses us']],
  ])('ring at the first %s with %o', async (event, fields: object, names) => {
    expect(
      await firing(
        [
          {
            at: now,
            event,
            ...fields,
          },
        ],
        now,
      ),
    ).toEqual(names);
  });

  it('name one customer whose state cannot be fetched for ten minutes, and no shorter failure', async () => {
    const failures = [1, 2, 3, 4, 5, 6];
    const at = failures.map((count) =>
      failures.slice(0, count - 1).reduce((sum, each) => sum + pauseAfter(each), now),
    );
    const lines = failures.map((count) => ({
      at: at[count - 1]!,
      event: 'sync_postponed',
      failures: count,
    }));
    expect(await firing(lines.slice(0, 4), at[3]!)).toEqual([]);
    expect(await firing(lines, at[5]!)).toEqual(['A plan is out of date']);
  });
});

/** `npm run alerts -- list` prints it. */
it('stand in the runbook as `alerts.ts` has them', () => {
  const runbook = readFileSync(`${worker}docs/runbook.md`, 'utf8');
  const list = /^## Alerts$[\s\S]*?^(\*\*now\*\*[\s\S]*?)\n\nStripe sends/m.exec(runbook)?.[1];
  expect(list).toBe(alertList());
  for (const { when } of alerts) expect(list).toContain(`- ${when}: `);
});

it('makes a rule of Grafana and a panel for each alert', () => {
  const target = { service: 'solace', dataSource: 'logs' };
  const { rules } = alertRules(target).groups[0]!;
  expect(new Set(rules.map(({ uid }) => uid)).size).toBe(alerts.length);
  const expr = expect.stringContaining('{service_name="solace"} | json | event=');
  expect(rules[0]!.data[0]!.model).toMatchObject({ expr });
  // Grafana allows 40 characters.
  for (const { uid } of rules) expect(uid.length).toBeLessThanOrEqual(40);
  expect(dashboard(target).panels).toHaveLength(alerts.length + 1);
});

it('reads five questions from the runbook, most of them with queries', () => {
  const queries = readQuestions().map((question) => question.queries.length);
  expect(queries).toHaveLength(5);
  expect(queries.filter(Boolean).length).toBeGreaterThanOrEqual(3);
});

const services = await startTestServices();
const site = await serve((_, response) => response.writeHead(200).end());
afterAll(() => Promise.all([services.close(), site.close()]));

const command = ['.ci/require-node.js', 'worker/operations/report/report.ts'];
async function report(SITE_URL = site.url): Promise<string> {
  const env = { ...ownEnvironment, ...services.vars, SITE_URL };
  return (await promisify(execFile)(process.execPath, command, { env })).stdout;
}

it('fails when the site does not respond', async () => {
  await expect(report('http://127.0.0.1:1')).rejects.toMatchObject({ code: 1 });
});

it("prints the answers to the five questions, last year's figures on 2 January, and times the health check", async () => {
  const dayOf = (date: string) => Date.parse(date) / 86_400_000;
  for (const [date, ...counted] of [
    ['2026-01-01', 'referral', 'web', 40],
    ['2026-12-31', 'referral', 'web', 2],
    ['2026-12-31', 'referral', 'whatsapp', 17],
    ['2027-01-01', 'referral', 'web', 1],
    ['2026-06-01', 'cancellation', '', 5],
    ['2026-06-01', 'cancel_reason', 'price', 3],
    ['2026-06-02', 'claim', '', 4],
  ] as const) {
    const sql = 'insert into daily_totals (day, kind, detail, n) values (?, ?, ?, ?)';
    await services.database.execute({
      sql,
      args: [dayOf(date), ...counted],
    });
  }
  const told = await report();
  const cells = told
    .split('\n')
    .map((line) => line.split('│').map((cell) => cell.trim().replaceAll("'", '')));
  const rows = cells.map((row) => row.slice(2, -1).join(' '));
  expect(rows).toEqual(
    expect.arrayContaining([
      '2026 web 42 2026-01-01 2026-12-31',
      '2026 whatsapp 17 2026-12-31 2026-12-31',
      '2027 web 1 2027-01-01 2027-01-01',
      expect.stringMatching(/^2026 5\b/),
      expect.stringMatching(/^2026 price 3\b/),
      expect.stringMatching(/^2026 claim 4\b/),
    ]),
  );
  const parts = [
    'Are codes arriving?',
    'codes_sent',
    'Do webhooks succeed?',
    'untold',
    'claims_waiting',
  ];
  for (const part of [...parts, '/api/health', '200']) expect(told).toContain(part);
});
