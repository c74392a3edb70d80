import { setTimeout as sleep } from 'node:timers/promises';
import type { Figures } from './figures.ts';
import type { Latencies } from './latencies.ts';
import type { Person } from './person.ts';
import type { Rig } from './rig.ts';
import type { Answer, Site } from './site.ts';

/** Everything that those who act and those who check share. */
export type World = {
  rig: Rig;
  site: Site;
  figures: Figures;
  latencies: Latencies;
  people: Person[];
  /** Part of every text in the conversations: it must be found in no file and no log. */
  marker: string;
  /** What must never happen and was seen while it happened. */
  seen: string[];
  /** From now on nobody begins anything new. */
  closing: AbortSignal;
  /** From now on whoever still waits counts as stuck. */
  givenUp: AbortSignal;
};

/** Somebody who waited until the very end. */
export class Stuck extends Error {}

const longestWaitMs = 3000;

/** Calls until the answer is something else than "not now": no answer, 429 or a failure of the server. */
export async function untilTaken(world: World, person: Person, attempt: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await attempt();
    if (!isNotNow(answer)) return answer;
    await pause(world, Math.min(answer.retryAfter * 1000, longestWaitMs) + person.choices.between(100, 600));
  }
}

export const isNotNow = ({ status }: Answer): boolean => status === 0 || status === 429 || status >= 500;

/** Waits so many ms, or until nobody begins anything new. */
export async function untilClosing({ closing }: World, ms: number): Promise<void> {
  await sleep(ms, undefined, { signal: closing }).catch(() => undefined);
}

/** Waits so many ms, unless the end has come, which finds the waiting one stuck. */
export async function pause({ givenUp }: World, ms: number): Promise<void> {
  if (givenUp.aborted) throw new Stuck();
  await sleep(ms, undefined, { signal: givenUp }).catch(() => {
    throw new Stuck();
  });
}
