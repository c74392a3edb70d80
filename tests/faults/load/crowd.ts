import { setTimeout as sleep } from 'node:timers/promises';
import type { Choices } from '../choices.ts';
import { Person, type Role } from '../person.ts';
import type { World } from '../world.ts';
import { runJourney } from './user-journey.ts';

const places = 20;
const shares: Record<Role, number> = { talker: 6, writer: 6, subscriber: 6, visitor: 2 };

/** Runs so many users concurrently until the end; a new one replaces each that leaves. */
export async function fillWithPeople(world: World, choices: Choices): Promise<void> {
  const newcomer = () => {
    const person = new Person(world.people.length, choices.weighted<Role>(shares), choices.fork());
    world.people.push(person);
    return person;
  };
  const place = async (index: number) => {
    await sleep(index * 200);
    while (!world.closing.aborted) await runJourney(world, newcomer());
  };
  await Promise.all(Array.from({ length: places }, (_, index) => place(index)));
}
