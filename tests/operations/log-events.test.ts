import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseSync, Visitor, type ESTree } from 'vite';
import { describe, expect, it, afterAll } from 'vitest';
import { alerts, alertTable } from '../../worker/operations/alerts/alerts.ts';
import { alertRules, dashboard } from '../../worker/operations/alerts/grafana.ts';
import { readQuestions } from '../../worker/operations/report/report.ts';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { startTestServices } from '../product/start-product.ts';
import { serve } from './test-product.ts';

const worker = fileURLToPath(new URL('../../worker/', import.meta.url));
const document = readFileSync(`${worker}docs/log-events.md`, 'utf8');

/** The names in an object literal, those of its spreads included, or those that `describeError` returns. */
function fieldsIn(node: ESTree.Node): string[] {
  if (node.type === 'CallExpression') return ['error', 'code', 'at'];
  if (node.type === 'LogicalExpression') return fieldsIn(node.right);
  if (node.type === 'ConditionalExpression') return [node.consequent, node.alternate].flatMap(fieldsIn);
  if (node.type !== 'ObjectExpression') throw new Error(`The fields of a line of the log are a ${node.type}`);
  return node.properties.flatMap((each) =>
    each.type === 'SpreadElement' ? fieldsIn(each.argument) : [(each.key as ESTree.IdentifierName).name],
  );
}

/** The events that the Worker writes, with the fields and levels that all its lines together may have. */
const written = new Map<string, { fields: Set<string>; levels: Set<string> }>();
for (const name of readdirSync(worker, { recursive: true, encoding: 'utf8' })) {
  if (!name.endsWith('.ts') || name.startsWith('operations/')) continue;
  const source = readFileSync(`${worker}${name}`, 'utf8');
  const textsIn = ({ start, end }: ESTree.Node) =>
    [...source.slice(start, end).matchAll(/'(\w+)'/g)].map(([, text = '']) => text);
  new Visitor({
    CallExpression({ callee, arguments: [level, names, fields] }) {
      if (callee.type !== 'Identifier' || callee.name !== 'log') return;
      const levels = textsIn(level!);
      for (const event of textsIn(names!)) {
        const { fields: known, levels: seen } = written.get(event) ?? { fields: [], levels: [] };
        const all = levels.length > 0 ? levels : ['info', 'error'];
        written.set(event, { fields: new Set([...known, ...fieldsIn(fields!)]), levels: new Set([...seen, ...all]) });
      }
    },
  }).visit(parseSync(name, source, { preserveParens: false }).program);
}

const rows = [...document.matchAll(/^\| `(\w+)` +\| (.+?) +\| (.+?) +\| (.+?) +\|$/gm)];
const listed = new Map(
  rows.map(([, name = '', levels = '', fields = '']) => [
    name,
    { levels: levels.split(', '), fields: [...fields.matchAll(/`(\w+)`/g)].map(([, field]) => field) },
  ]),
);

describe('the table of log events', () => {
  it('lists every event that the code writes, and no other', () => {
    expect(written.size).toBeGreaterThan(20);
    expect([...listed.keys()].toSorted()).toEqual([...written.keys()].toSorted());
  });

  it.each([...written])('has the fields and levels of %s', (name, { fields, levels }) => {
    const row = listed.get(name);
    // The one call that writes both gives `unexpected` to the second alone.
    const expected = [...fields].filter((field) => name !== 'request_completed' || field !== 'unexpected');
    expect(row?.fields.toSorted()).toEqual(expected.toSorted());
    if (!name.startsWith('request_')) expect(new Set(row?.levels)).toEqual(levels);
  });

  it('says in a sentence what each event means', () => {
    for (const [, name, , , meaning] of rows) expect(`${name}: ${meaning}`).toMatch(/: [A-Z`8].{30,}\.$/);
  });
});

it.each(alerts)('$name asks for events that the Worker writes', ({ query }) => {
  for (const [, event] of query.matchAll(/event="(\w+)"/g)) expect([...written.keys()]).toContain(event);
});

/** `npm run alerts -- table` prints it. */
it('stand in the runbook as `alerts.ts` has them', () => {
  const runbook = readFileSync(`${worker}docs/runbook.md`, 'utf8');
  const table = runbook.split(/^## Alerts$/m)[1]!.match(/^\|.*\|$/gm)!;
  expect(table.join('\n')).toBe(alertTable());
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
  const env = { PATH: process.env['PATH'], ...services.vars, SITE_URL };
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
    await services.database.execute({ sql, args: [dayOf(date), ...counted] });
  }
  const told = await report();
  const cells = told.split('\n').map((line) => line.split('│').map((cell) => cell.trim().replaceAll("'", '')));
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
  const parts = ['Are codes arriving?', 'codes_sent', 'Do webhooks succeed?', 'untold', 'claims_waiting'];
  for (const part of [...parts, '/api/health', '200']) expect(told).toContain(part);
});
