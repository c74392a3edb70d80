import { setTimeout as sleep } from 'node:timers/promises';
import type { Choices } from '../choices.ts';
import type { Person } from '../person.ts';
import type { Site } from '../site.ts';
import type { World } from '../world.ts';

/** What an attack acts with, until `ended` is aborted. */
export type Attack = { world: World; site: Site; choices: Choices; attacker: Person; ended: AbortSignal };

/** Repeats an action until the attack ends, with a pause of so many ms after each. */
export async function repeat({ ended }: Attack, pauseMs: number, act: () => Promise<unknown>): Promise<void> {
  while (!ended.aborted) {
    await act();
    await sleep(pauseMs);
  }
}
