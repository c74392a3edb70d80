import { setTimeout as sleep } from 'node:timers/promises';
import type { Figures, Latencies, Timeline } from './records.ts';
import type { Person } from './person.ts';
import type { Rig } from './rig.ts';
import type { Answer, Site } from './site.ts';

/** A fault of a local service (`tests/sandbox/fault-injection.ts`). */
export type Fault = { status?: number; delayMs?: number; drop?: true; cut?: true };

/** The state that actors and invariants share. */
export type World = {
  rig: Rig;
  site: Site;
  figures: Figures;
  latencies: Latencies;
  timeline: Timeline;
  people: Person[];
  /** Part of every text in the conversations: it must be found in no file and no log. */
  marker: string;
  /** Violations seen during the run. */
  seen: string[];
  /** The fault of a bot that is down; no other fault replaces it. */
  botOutage: Fault | null;
  /** Aborted when no actor may start anything new. */
  closing: AbortSignal;
  /** Aborted when actors that still wait count as stuck. */
  givenUp: AbortSignal;
};

/** An actor still waited at the end of the run. */
export class Stuck extends Error {}

const longestWaitMs = 3000;

/** Repeats a call until its result is not temporary: no response, 429 or a server error are. */
export async function untilTaken(world: World, person: Person, attempt: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await attempt();
    if (!isNotNow(answer)) return answer;
    await pause(world, Math.min(answer.retryAfter * 1000, longestWaitMs) + person.choices.between(100, 600));
  }
}

/**
 * As `untilTaken`, for a call of one of several tabs: if the user ends its session in another tab, it is repeated in the
 * next session. A 401 in a session that the user has not ended is returned.
 */
export async function untilTakenBySession(
  world: World,
  person: Person,
  attempt: (token: string) => Promise<Answer>,
): Promise<Answer> {
  for (;;) {
    const token = person.token!;
    const answer = await untilTaken(world, person, () => attempt(token));
    if (answer.status !== 401 || person.left || person.sessions.has(token)) return answer;
    while (person.token === token) await pause(world, person.choices.between(100, 600));
  }
}

export const isNotNow = ({ status }: Answer): boolean => status === 0 || status === 429 || status >= 500;

/** Waits so many ms, or until `closing` is aborted. */
export async function untilClosing({ closing }: World, ms: number): Promise<void> {
  await sleep(ms, undefined, { signal: closing }).catch(() => undefined);
}

/** Waits so many ms; throws `Stuck` if `givenUp` is aborted. */
export async function pause({ givenUp }: World, ms: number): Promise<void> {
  if (givenUp.aborted) throw new Stuck();
  await sleep(ms, undefined, { signal: givenUp }).catch(() => {
    throw new Stuck();
  });
}
