import { setTimeout as sleep } from 'node:timers/promises';
import type { Choices } from '../choices.ts';
import type { Person } from '../person.ts';
import { isNotNow, untilClosing, untilTaken, type World } from '../world.ts';

/** Until the end, the bot sometimes refuses every message for a while; with `silent` it also does not respond. */
export async function keepRefusing(world: World, choices: Choices, silent: boolean): Promise<void> {
  const { rig, figures, closing, timeline } = world;
  while (!closing.aborted) {
    await untilClosing(world, choices.between(4000, 12_000));
    if (closing.aborted) return;
    const mode = silent && choices.chance(0.3) ? 'silent' : 'refuse';
    figures.injected(mode === 'silent' ? 'bot does not respond to messages' : 'bot refuses messages');
    timeline.note(`bot, messages: ${mode}`);
    await rig.control('PUT', '/bot/mode', { mode });
    await sleep(choices.between(300, 2000));
    await rig.control('PUT', '/bot/mode', { mode: 'answer' });
    timeline.note('bot, messages: answer');
  }
}

/** The bot writes unprompted, and at times sends the same reply in two calls. */
export async function receiveReply(world: World, person: Person): Promise<void> {
  const { choices, conversation, phone } = person;
  if (!conversation.consented) return;
  const body = { phone, id: person.nextId('reply'), text: `${world.marker} reply ${person.index}` };
  const send = (callId: string) =>
    untilTaken(world, person, () => world.site.bot('bot message', '/api/bot/messages', callId, body));
  const calls = choices.chance(0.4) ? ['a', 'b'] : ['a'];
  const answers = await Promise.all(calls.map((call) => send(`${body.id}_${call}`)));
  const seqs = new Set(answers.map((answer) => answer.body.seq as number | undefined));
  const [seq] = seqs;
  if (seqs.size !== 1 || seq === undefined) {
    const got = answers.map(({ code, body: { seq: place } }) => place ?? code).join(' and ');
    world.seen.push(`${phone}: the reply ${body.id} got ${got}`);
    return;
  }
  conversation.replies.push({ ...body, seq, author: 'solace', state: 'delivered' });
  if (choices.chance(0.1)) await refuseOtherText(world, body);
}

async function refuseOtherText({ site, seen }: World, body: { id: string; text: string }): Promise<void> {
  const other = { ...body, text: `${body.text} changed` };
  const answer = await site.bot('bot message', '/api/bot/messages', `${body.id}_other`, other);
  if (!isNotNow(answer) && answer.status !== 409)
    seen.push(`another text under the reply ${body.id} was answered ${answer.status}`);
}
