import { stripeEvents } from '#db/schema';
import { type Part, partText } from '../bench/report.ts';
import type { Finding } from './invariants/accounts.ts';
import { total } from './records.ts';
import type { World } from './rig.ts';

type Run = { seed: number; loadSeconds: number; settleSeconds: number; findings: Finding[] };

export async function reportOf(world: World, run: Run): Promise<string> {
  const { figures } = world;
  const perSecond = sorted(figures.calls).map(([kind, calls]) => [kind, calls, calls / run.loadSeconds]);
  const outages = figures.outages.map(({ manner, waiting, receivedMs }) => {
    return [manner, waiting, receivedMs === null ? 'not in time' : receivedMs / 1000];
  });
  const tables: [title: string, header: string[], rows: Part['rows']][] = [
    ['The run', ['', ''], await facts(world, run)],
    ['Load', ['calls', 'made', 'a second'], perSecond],
    ['Failed responses', ['code', 'times'], sorted(figures.failures)],
    ['Responses to attackers', ['code', 'times'], sorted(figures.attackers.failures)],
    ['Faults', ['fault', 'times'], sorted(figures.faults)],
    ['Bot down for a minute', ['the bot', 'events waiting then', 'received after (s)'], outages],
  ];
  const filled = tables.filter(([, , rows]) => rows.length > 0);
  const texts = filled.map(([title, header, rows]) => partText({ title, header, rows }).trimEnd());
  return [...texts, findingsText(run.findings)].join('\n');
}

/** The invariants as a table, and their violations, one line each; a long list is truncated. */
export function findingsText(findings: Finding[]): string {
  const rows = findings.map(({ what, checked, broken }) => [what, checked, broken.length]);
  const complaints = findings.flatMap(({ what, broken }) => {
    const shown = broken.slice(0, 12).map((each) => `BROKEN ${what}: ${each}`);
    return broken.length > shown.length ? [...shown, `BROKEN ${what}: ${broken.length - shown.length} more`] : shown;
  });
  return `${partText({ title: 'Invariants', header: ['invariant', 'checked', 'broken'], rows })}${complaints.join('\n')}`;
}

async function facts(world: World, run: Run): Promise<Part['rows']> {
  const { figures, people, rig } = world;
  const compared = figures.latencies.compare();
  return Object.entries({
    seed: String(run.seed),
    'seconds under load': run.loadSeconds,
    'seconds to settle': run.settleSeconds,
    people: people.length,
    'streams opened': people.flatMap(({ followers }) => followers).reduce((sum, { opened }) => sum + opened, 0),
    'calls made': total(figures.calls),
    'calls a second': total(figures.calls) / run.loadSeconds,
    'failed responses': total(figures.failures),
    'events taken from Stripe': await rig.database.$count(stripeEvents),
    'faults injected': total(figures.faults),
    'restarts of the Worker': figures.restarts,
    'slowest restart until the Worker responds (s)': figures.slowestRestartMs / 1000,
    'calls of attackers': total(figures.attackers.calls),
    'people refused at first': figures.refusals.length,
    'longest until they got in, after writing (s)': Math.max(0, ...figures.refusals.map(({ ms }) => ms)) / 1000,
    'median of others, calm (ms)': compared?.calm ?? 0,
    'median of others, attacked (ms)': compared?.attacked ?? 0,
  });
}

const sorted = (counts: Map<string, number>) => [...counts].toSorted(([, a], [, b]) => b - a);
