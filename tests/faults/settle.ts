import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  attackersSeeNoErrors,
  nobodyIsLockedOut,
  othersStayFast,
  codesWorkOnce,
  namesAreOfUsers,
  nobodyIsStuck,
  noUnexpectedErrors,
  signedIn,
  type Finding,
  type Invariant,
} from './invariants/accounts.ts';
import {
  chatStreamsAgree,
  messagesReachedBot,
  pagesAreWhole,
  recordingsAreWhole,
  textIsNowhere,
} from './invariants/conversations.ts';
import { deletedAccountsAreGone } from './invariants/deletions.ts';
import { botReceivedChanges, everyEventArrived } from './invariants/outbox.ts';
import { streamsAgree, postsCountOnce, totalsAgree } from './invariants/usage.ts';
import { checkoutsHold, plansAgree } from './invariants/subscriptions.ts';
import { runMinuteCron } from '../product/start-product.ts';
import { resendFailed } from './load/conversation.ts';
import { Figures } from './records.ts';
import { Site } from './site.ts';
import type { World } from './rig.ts';

/** All invariants, for a settled system in which every service works. */
const invariants: Invariant[] = [
  postsCountOnce,
  totalsAgree,
  streamsAgree,
  plansAgree,
  checkoutsHold,
  everyEventArrived,
  botReceivedChanges,
  messagesReachedBot,
  pagesAreWhole,
  chatStreamsAgree,
  recordingsAreWhole,
  textIsNowhere,
  attackersSeeNoErrors,
  codesWorkOnce,
  namesAreOfUsers,
  deletedAccountsAreGone,
  nobodyIsStuck,
  noUnexpectedErrors,
];

/** What only a quiet machine can measure. */
const timed: Invariant[] = [nobodyIsLockedOut, othersStayFast];

/** Writes the timeline of every user whom a broken invariant names into a folder; returns a line that says so. */
export function explain({ rig, timeline, people }: World, findings: Finding[], folder: string): string {
  const broken = findings.flatMap((finding) => finding.broken);
  // The ids of a user's calls contain the index (`Person.nextId`).
  const named = people.filter(({ phone, index }) =>
    broken.some((text) => text.includes(phone) || text.includes(`_${index}_`)),
  );
  const lines = readFileSync(`${rig.stateDir}/worker.log`, 'utf8').split('\n');
  const logLines = Map.groupBy(lines, (line) => /"requestId":"([^"]+)"/.exec(line)?.[1]);
  mkdirSync(folder, { recursive: true });
  for (const person of named)
    writeFileSync(`${folder}/${person.phone}.log`, `${timeline.linesOf(person, logLines).join('\n')}\n`);
  return `The calls of ${named.length} users whom broken invariants name: ${folder}`;
}

const patienceMs = 600_000;
const stepMs = 2000;

/** Runs the cron jobs until every invariant holds or the time is over; returns the last findings. */
export async function settle(world: World, latencies = true): Promise<Finding[]> {
  // The requests of the invariants are not part of the load.
  const { rig, timeline } = world;
  const { product, botSecret } = rig;
  const examined = { ...world, site: new Site(product.siteUrl, botSecret, new Figures()) };
  const repaired = { ...world, site: new Site(product.siteUrl, botSecret, new Figures(), { timeline }) };
  const deadline = performance.now() + patienceMs;
  for (;;) {
    await runMinuteCron(product.siteUrl);
    for (const person of signedIn(world)) if (person.conversation.consented) await resendFailed(repaired, person);
    const findings = await checkAll(examined, latencies);
    if (findings.every(({ broken }) => broken.length === 0) || performance.now() > deadline) return findings;
    await sleep(stepMs);
  }
}

async function checkAll(world: World, latencies: boolean): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const invariant of [...invariants, ...(latencies ? timed : [])]) findings.push(await invariant(world));
  return findings;
}
