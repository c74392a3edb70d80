import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { alerts, alertTable } from '../../worker/operations/alerts/alerts.ts';
import { alertRules, dashboard } from '../../worker/operations/alerts/grafana.ts';
import { readQuestions } from '../../worker/operations/report/report.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const runbook = readFileSync(`${root}/worker/docs/runbook.md`, 'utf8');
const sources = readdirSync(`${root}/worker`, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.startsWith('operations/'))
  .map((name) => readFileSync(`${root}/worker/${name}`, 'utf8'))
  .join('\n');
const target = { service: 'solace', dataSource: 'logs' };

it.each(alerts)('$name asks for events that the Worker writes', ({ query }) => {
  for (const [, event] of query.matchAll(/event="(\w+)"/g)) expect(sources).toContain(`'${event}'`);
});

/** `npm run alerts -- table` prints it. */
it('stand in the runbook as `alerts.ts` has them', () => {
  const table = runbook.split(/^## Alerts$/m)[1]!.match(/^\|.*\|$/gm)!;
  expect(table.join('\n')).toBe(alertTable());
});

it('makes a rule of Grafana and a panel for each alert', () => {
  const { rules } = alertRules(target).groups[0]!;
  expect(rules).toHaveLength(alerts.length);
  expect(new Set(rules.map(({ uid }) => uid)).size).toBe(alerts.length);
  expect(rules[0]!.data[0]!.model).toMatchObject({
    expr: expect.stringContaining('{service_name="solace"} | json | event='),
  });
  // Grafana allows 40 characters.
  for (const { uid } of rules) expect(uid.length).toBeLessThanOrEqual(40);
  expect(dashboard(target).panels).toHaveLength(alerts.length + 1);
});

it('reads five questions from the runbook', () => {
  const questions = readQuestions();
  expect(questions.map(({ question }) => question)).toHaveLength(5);
  expect(questions.filter(({ queries }) => queries.length > 0).length).toBeGreaterThanOrEqual(3);
});
