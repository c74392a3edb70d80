import type { Person } from '../person.ts';
import type { Answer } from '../site.ts';
import { isNotNow, untilTaken, type World } from '../world.ts';

/** The bot posts some messages, one by one or concurrently, each until it gets a response. */
export async function write(world: World, person: Person): Promise<void> {
  const { choices } = person;
  const atOnce = choices.chance(0.25) ? choices.between(2, 5) : 1;
  await Promise.all(Array.from({ length: atOnce }, () => post(world, person)));
}

async function post(world: World, person: Person): Promise<void> {
  const { choices, phone } = person;
  const id = person.nextId('use');
  const body = { phone, count: choices.between(1, 3) };
  const send = (hangUpMs?: number) => world.site.bot('bot usage', '/api/bot/usage', id, body, hangUpMs);
  const again = choices.chance(0.1);
  if (choices.chance(0.1)) await send(choices.between(2, 40));
  const answer = await untilTaken(world, person, send);
  if (answer.status !== 200) {
    world.seen.push(`usage post ${id} was refused: ${answer.code}`);
    return;
  }
  const { allowed, used, resetsAt } = answer.body;
  person.posts.push({ id, count: body.count, allowed, used, resetsAt });
  if (again) compare(world, id, answer, await send());
}

function compare({ seen }: World, id: string, first: Answer, second: Answer): void {
  if (isNotNow(second) || JSON.stringify(first.body) === JSON.stringify(second.body)) return;
  seen.push(`usage post ${id} was answered ${JSON.stringify(first.body)}, then ${JSON.stringify(second.body)}`);
}
