import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Finding } from './invariants/finding.ts';
import type { World } from './world.ts';

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
