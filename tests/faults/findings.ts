import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripeEvents } from '#db/schema';
import { runMinuteCron } from '../product/start-product.ts';
import { type Part, partText } from '../bench/measurement.ts';
import * as accounts from './invariants/accounts.ts';
import * as conversations from './invariants/conversations.ts';
import { deletedAccountsAreGone } from './invariants/deletions.ts';
import {
  checkoutsHold,
  plansAgree,
  streamsAgree,
  postsCountOnce,
  totalsAgree,
} from './invariants/entitlements.ts';
import { resendFailed } from './load/conversation.ts';
import { CallFigures, total } from './records.ts';
import type { World } from './rig.ts';
import { Site } from './site.ts';

const invariants: accounts.Invariant[] = [
  postsCountOnce,
  totalsAgree,
  streamsAgree,
  plansAgree,
  checkoutsHold,
  conversations.everyEventArrived,
  conversations.botReceivedChanges,
  conversations.messagesReachedBot,
  conversations.pagesAreWhole,
  conversations.chatStreamsAgree,
  conversations.recordingsAreWhole,
  conversations.textIsNowhere,
  accounts.attackersSeeNoErrors,
  accounts.codesWorkOnce,
  accounts.namesAreOfUsers,
  deletedAccountsAreGone,
  accounts.nobodyIsStuck,
  accounts.noUnexpectedErrors,
];

/** What only a quiet machine can measure. */
const timed: accounts.Invariant[] = [accounts.nobodyIsLockedOut, accounts.othersStayFast];

/** Writes the timeline of every user whom a broken invariant names into a folder; returns a line that says so. */
export function explain(
  { rig, figures, people }: World,
  findings: accounts.Finding[],
  folder: string,
): string {
  const broken = findings.flatMap((finding) => finding.broken);
  // The ids of a user's calls contain the index (`Person.nextId`).
  const named = people.filter(({ phone, index }) =>
    broken.some((text) => text.includes(phone) || text.includes(`_${index}_`)),
  );
  const lines = readFileSync(`${rig.stateDir}/worker.log`, 'utf8').split('\n');
  const logLines = Map.groupBy(lines, (line) => /"requestId":"([^"]+)"/.exec(line)?.[1]);
  mkdirSync(folder, { recursive: true });
  for (const person of named)
    writeFileSync(
      `${folder}/${person.phone}.log`,
      `${figures.timeline.linesOf(person, logLines).join('\n')}\n`,
    );
  return `The calls of ${named.length} users whom broken invariants name: ${folder}`;
}

const patienceMs = 600_000;

export async function settle(world: World, latencies: boolean): Promise<accounts.Finding[]> {
  const { product, botSecret } = world.rig;
  // The requests of the invariants are not part of the load.
  const examined = {
    ...world,
    site: new Site(product.siteUrl, botSecret, new CallFigures()),
  };
  const deadline = performance.now() + patienceMs;
  for (;;) {
    await runMinuteCron(product.siteUrl);
    for (const person of accounts.signedIn(world))
      if (person.conversation.consented) await resendFailed(world, person);
    const findings: accounts.Finding[] = [];
    for (const holds of latencies ? [...invariants, ...timed] : invariants)
      findings.push(await holds(examined));
    if (findings.every(({ broken }) => broken.length === 0) || performance.now() > deadline)
      return findings;
    await sleep(2000);
  }
}

type Run = {
  seed: number;
  loadSeconds: number;
  settleSeconds: number;
  findings: accounts.Finding[];
};

export async function reportOf(world: World, run: Run): Promise<string> {
  const { figures } = world;
  const perSecond = sorted(figures.calls).map(([kind, calls]) => [
    kind,
    calls,
    calls / run.loadSeconds,
  ]);
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
  const texts = filled.map(([title, header, rows]) =>
    partText({
      title,
      header,
      rows,
    }).trimEnd(),
  );
  return [...texts, findingsText(run.findings)].join('\n');
}

/** The invariants as a table, and their violations, one line each; a long list is truncated. */
export function findingsText(findings: accounts.Finding[]): string {
  const rows = findings.map(({ what, checked, broken }) => [what, checked, broken.length]);
  const complaints = findings.flatMap(({ what, broken }) => {
    const shown = broken.slice(0, 12).map((each) => `BROKEN ${what}: ${each}`);
    return broken.length > shown.length
      ? [...shown, `BROKEN ${what}: ${broken.length - shown.length} more`]
      : shown;
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
    'streams opened': people
      .flatMap(({ followers }) => followers)
      .reduce((sum, { opened }) => sum + opened, 0),
    'calls made': total(figures.calls),
    'calls a second': total(figures.calls) / run.loadSeconds,
    'failed responses': total(figures.failures),
    'events taken from Stripe': await rig.database.$count(stripeEvents),
    'faults injected': total(figures.faults),
    'restarts of the Worker': figures.restarts,
    'slowest restart until the Worker responds (s)': figures.slowestRestartMs / 1000,
    'calls of attackers': total(figures.attackers.calls),
    'people refused at first': figures.refusals.length,
    'longest until they got in, after writing (s)':
      Math.max(0, ...figures.refusals.map(({ ms }) => ms)) / 1000,
    'median of others, calm (ms)': compared?.calm ?? 0,
    'median of others, attacked (ms)': compared?.attacked ?? 0,
  });
}

const sorted = (counts: Map<string, number>) => [...counts].toSorted(([, a], [, b]) => b - a);
