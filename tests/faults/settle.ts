import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { runMinuteCron } from '../product/start-product.ts';
import * as accounts from './invariants/accounts.ts';
import * as conversations from './invariants/conversations.ts';
import { deletedAccountsAreGone } from './invariants/deletions.ts';
import { botReceivedChanges, everyEventArrived } from './invariants/outbox.ts';
import { checkoutsHold, plansAgree } from './invariants/subscriptions.ts';
import { streamsAgree, postsCountOnce, totalsAgree } from './invariants/usage.ts';
import { resendFailed } from './load/conversation.ts';
import { CallFigures } from './records.ts';
import type { World } from './rig.ts';
import { Site } from './site.ts';

const invariants: accounts.Invariant[] = [
  postsCountOnce,
  totalsAgree,
  streamsAgree,
  plansAgree,
  checkoutsHold,
  everyEventArrived,
  botReceivedChanges,
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
export function explain({ rig, figures, people }: World, findings: accounts.Finding[], folder: string): string {
  const broken = findings.flatMap((finding) => finding.broken);
  // The ids of a user's calls contain the index (`Person.nextId`).
  const named = people.filter(({ phone, index }) =>
    broken.some((text) => text.includes(phone) || text.includes(`_${index}_`)),
  );
  const lines = readFileSync(`${rig.stateDir}/worker.log`, 'utf8').split('\n');
  const logLines = Map.groupBy(lines, (line) => /"requestId":"([^"]+)"/.exec(line)?.[1]);
  mkdirSync(folder, { recursive: true });
  for (const person of named) {
    writeFileSync(`${folder}/${person.phone}.log`, `${figures.timeline.linesOf(person, logLines).join('\n')}\n`);
  }
  return `The calls of ${named.length} users whom broken invariants name: ${folder}`;
}

const patienceMs = 600_000;

export async function settle(world: World, latencies: boolean): Promise<accounts.Finding[]> {
  const { product, botSecret } = world.rig;
  // The requests of the invariants are not part of the load.
  const examined = { ...world, site: new Site(product.siteUrl, botSecret, new CallFigures()) };
  const deadline = performance.now() + patienceMs;
  for (;;) {
    await runMinuteCron(product.siteUrl);
    for (const person of accounts.signedIn(world)) if (person.conversation.consented) await resendFailed(world, person);
    const findings: accounts.Finding[] = [];
    for (const holds of latencies ? [...invariants, ...timed] : invariants) findings.push(await holds(examined));
    if (findings.every(({ broken }) => broken.length === 0) || performance.now() > deadline) return findings;
    await sleep(2000);
  }
}
