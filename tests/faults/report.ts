import { readFileSync } from 'node:fs';
import { partText } from '../bench/report.ts';
import { total } from './records.ts';
import { signedIn, type Finding } from './invariants/accounts.ts';
import type { Person } from './person.ts';
import type { World } from './rig.ts';

type Run = { seed: number; loadSeconds: number; settleSeconds: number; findings: Finding[] };
type Rows = (string | number)[][];

/** The figures of a run as tables. */
export async function reportOf(world: World, run: Run): Promise<string> {
  const { figures } = world;
  const perSecond = ([kind, calls]: [string, number]) => [kind, String(calls), calls / run.loadSeconds];
  const tables: [string, string[], Rows][] = [
    ['The run', ['', ''], await facts(world, run)],
    ['Load', ['calls', 'made', 'a second'], sorted(figures.calls).map(perSecond)],
    ['Failed responses', ['code', 'times'], sorted(figures.failures).map(asText)],
    ['Attacks', ['', ''], attackFacts(world)],
    ['Responses to attackers', ['code', 'times'], sorted(figures.attackers.failures).map(asText)],
    ['Faults', ['fault', 'times'], sorted(figures.faults).map(asText)],
    ['Bot down for a minute', ['the bot', 'events waiting then', 'received after (s)'], figures.outages.map(outageRow)],
    ['Slowest recovery', ['after', 'seconds'], [...figures.recoveries].map(([from, ms]) => [from, ms / 1000])],
    ['Invariants', ['invariant', 'checked', 'broken'], run.findings.map(verdict)],
  ];
  const filled = tables.filter(([, , rows]) => rows.length > 0);
  return filled.map(([title, header, rows]) => partText({ title, header, rows, targets: [] }).trimEnd()).join('\n');
}

/** The violations, one line each; a long list is truncated. */
export function complaintsOf(findings: Finding[]): string[] {
  return findings.flatMap(({ what, broken }) => {
    const shown = broken.slice(0, 12).map((each) => `BROKEN ${what}: ${each}`);
    return broken.length > shown.length ? [...shown, `BROKEN ${what}: ${broken.length - shown.length} more`] : shown;
  });
}

async function facts(world: World, run: Run): Promise<Rows> {
  const { figures, people, rig } = world;
  const streamsOf = (whose: Person[]) => whose.flatMap(({ followers }) => followers);
  const { rows } = await rig.database.execute('select count(*) as events from stripe_events');
  const facts: Record<string, number> = {
    'seconds under load': run.loadSeconds,
    'seconds to settle': run.settleSeconds,
    people: people.length,
    'streams open at the end': streamsOf(signedIn(world)).length,
    'streams opened': streamsOf(people).reduce((sum, { stream }) => sum + stream.opened, 0),
    'calls made': total(figures.calls),
    'calls a second': total(figures.calls) / run.loadSeconds,
    'failed responses': total(figures.failures),
    'events taken from Stripe': Number(rows[0]?.events),
    'faults injected': total(figures.faults),
    'restarts of the Worker': figures.restarts,
    "lines in the Worker's log": readFileSync(`${rig.stateDir}/worker.log`, 'utf8').split('\n').length - 1,
  };
  return [['seed', String(run.seed)], ...Object.entries(facts).map(([name, value]) => [name, shown(value)])];
}

function attackFacts({ figures, latencies }: World): Rows {
  const compared = latencies.compare();
  const longest = Math.max(0, ...figures.refusals.map(({ ms }) => ms));
  const facts: Record<string, number> = {
    'calls of attackers': total(figures.attackers.calls),
    'people refused at first': figures.refusals.length,
    'longest until they got in, after writing (s)': longest / 1000,
    'median of others, calm (ms)': compared?.calm ?? 0,
    'median of others, attacked (ms)': compared?.attacked ?? 0,
  };
  return Object.entries(facts).map(([name, value]) => [name, shown(value)]);
}

const outageRow = ({ manner, waiting, receivedMs }: World['figures']['outages'][number]) => [
  manner,
  String(waiting),
  receivedMs === null ? 'not in time' : receivedMs / 1000,
];
const shown = (value: number): string => (Number.isInteger(value) ? value.toLocaleString('en') : value.toFixed(1));
const asText = ([name, times]: [string, number]) => [name, String(times)];
const verdict = ({ what, checked, broken }: Finding) => [what, String(checked), String(broken.length)];
const sorted = (counts: Map<string, number>) => [...counts].toSorted(([, a], [, b]) => b - a);
