import { randomUUID } from 'node:crypto';
import type { Person, Choices, Recording } from '../person.ts';
import { callUntilTaken, untilTaken, untilTakenBySession, type World, isNotNow, untilClosing } from '../rig.ts';
import { ChatFollower, readPage } from './streams.ts';
import { setTimeout as sleep } from 'node:timers/promises';

const path = '/api/user/chat/messages';
const voicePath = '/api/user/chat/voice';

/** What the containers begin with. */
const beginnings: Record<string, string> = {
  'audio/webm;codecs=opus': '\x1a\x45\xdf\xa3 webm ',
  'audio/mp4': '\0\0\0\x20ftypiso5',
  'audio/ogg;codecs=opus': `OggS${'\0'.repeat(24)}OpusHead`,
};
const [fewestBytes, mostBytes] = [1000, 300_000];

/** A recording in one of the three containers, whose bytes are the run's marker again and again. */
function recordingOf({ marker }: World, { choices }: Person, id: string): Recording {
  const type = choices.pick(Object.keys(beginnings));
  const bytes = Buffer.alloc(choices.between(fewestBytes, mostBytes), `${marker} ${id} `);
  bytes.write(beginnings[type]!, 'latin1');
  return { type, seconds: choices.between(1, 120), bytes };
}

/** Accepts the notice and opens the chat in one tab or two. */
export async function openChat(world: World, person: Person): Promise<void> {
  const { choices, conversation, phone, token } = person;
  const body = { version: '2026-11' };
  const answer = await callUntilTaken(world, person, 'chat consent', 'PUT', '/api/user/chat/consent', { token, body });
  if (answer.status !== 200) world.seen.push(`${phone} could not consent: ${answer.code}`);
  conversation.consented = answer.status === 200;
  for (let tabs = choices.between(1, 2); tabs > 0; tabs -= 1) person.chats.push(new ChatFollower(world, person));
}

/** Sends some messages, one by one or concurrently. */
export async function writeOnWeb(world: World, person: Person): Promise<void> {
  if (!person.conversation.consented) await openChat(world, person);
  const atOnce = person.choices.chance(0.2) ? person.choices.between(2, 4) : 1;
  await Promise.all(Array.from({ length: atOnce }, () => sendAny(world, person)));
}

/** Sends a text or a recording. */
export function sendAny(world: World, person: Person, hangUp?: boolean): Promise<void> {
  return (person.choices.chance(0.3) ? sendRecording : sendMessage)(world, person, hangUp);
}

/** Sends one message until it is accepted, at times with a lost response first, or with a repetition afterwards. */
export function sendMessage(world: World, person: Person, hangUp?: boolean): Promise<void> {
  return sendOnce(world, person, { id: randomUUID(), text: `${world.marker} ${person.nextId('message')}` }, hangUp);
}

export function sendRecording(world: World, person: Person, hangUp?: boolean): Promise<void> {
  const id = randomUUID();
  person.conversation.recordings.set(id, recordingOf(world, person, id));
  return sendOnce(world, person, { id, text: '' }, hangUp);
}

type Sent = { id: string; text: string };

async function sendOnce(world: World, person: Person, sent: Sent, hangUp = person.choices.chance(0.15)): Promise<void> {
  const { conversation } = person;
  conversation.attempted.add(sent.id);
  conversation.sentAt.set(sent.id, performance.now());
  conversation.inFlight.add(sent.id);
  await untilAccepted(world, person, sent, hangUp).finally(() => conversation.inFlight.delete(sent.id));
}

/** One call that sends a message, or its recording if it has one. */
function attempt({ site }: World, { conversation }: Person, body: Sent, token?: string, hangUpMs?: number) {
  const recording = conversation.recordings.get(body.id);
  if (!recording) return site.call('chat message', 'POST', path, { token, body }, hangUpMs);
  const query = new URLSearchParams({ id: body.id, seconds: String(recording.seconds) });
  return site.call('voice message', 'POST', `${voicePath}?${query}`, { token, recording }, hangUpMs);
}

async function untilAccepted(world: World, person: Person, body: Sent, hangUp: boolean): Promise<void> {
  const { choices, conversation, phone } = person;
  const send = (token: string | undefined, hangUpMs?: number) => attempt(world, person, body, token, hangUpMs);
  const again = choices.chance(0.1);
  if (hangUp) await send(person.token, choices.between(2, 40));
  const answer = await untilTakenBySession(world, person, send);
  if (answer.status !== 200) {
    const expected = answer.code === 'allowance_spent' || (person.left && answer.status < 500);
    if (!expected) world.seen.push(`${phone} could not send ${body.id}: ${answer.code}`);
    return;
  }
  const { message } = answer.body;
  const isSame = conversation.recordings.has(body.id) ? message.voice !== undefined : message.text === body.text;
  if (!isSame) world.seen.push(`${phone}: ${body.id} has another text in its response`);
  if (!conversation.overlapping.has(body.id)) conversation.accepted.set(body.id, { ...message, text: body.text });
  conversation.acceptedAt.set(body.id, performance.now());
  if (!again) return;
  const second = await untilTakenBySession(world, person, send);
  // If the bot has refused the message meanwhile, this is a new attempt.
  if (second.body.message?.state !== 'delivered') conversation.resent.add(body.id);
  const mayDiffer = person.left || conversation.overlapping.has(body.id);
  if (mayDiffer || second.body.message?.seq === message.seq) return;
  world.seen.push(`${phone}: ${body.id} was stored as ${message.seq}, then ${second.body.message?.seq ?? second.code}`);
}

/** Sends every message again that the bot has refused, under the same id. */
export async function resendFailed(world: World, person: Person): Promise<void> {
  const page = await readPage(world.site, person.token!);
  for (const { id, text } of page?.messages.filter(({ state }) => state === 'failed') ?? []) {
    person.conversation.resent.add(id);
    await attempt(world, person, { id, text }, person.token);
  }
}

/** Clears the conversation. */
export async function clearConversation(world: World, person: Person): Promise<void> {
  const { conversation, phone, token } = person;
  if (!conversation.consented) return;
  const removed = conversation.beginClearing();
  const answer = await callUntilTaken(world, person, 'clear chat', 'DELETE', '/api/user/chat', { token });
  if (answer.status === 200) conversation.clear(removed);
  else world.seen.push(`${phone} could not clear the conversation: ${answer.code}`);
}

/** The network of the device changes: every chat stream breaks and is resumed. */
export function reconnectChats({ chats }: Person): void {
  for (const chat of chats) chat.stream.disconnect();
}

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
  const id = person.nextId('reply');
  const recording = choices.chance(0.3) ? recordingOf(world, person, id) : undefined;
  if (recording) conversation.recordings.set(id, recording);
  const text = `${world.marker} reply ${person.index}`;
  const body = { phone, id, text, ...(recording && { voice: encoded(recording) }) };
  if (choices.chance(0.5)) await showPart(world, person, text);
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
  conversation.replies.push({ id, text, seq, author: 'solace', state: 'delivered' });
  if (choices.chance(0.1)) await refuseOtherText(world, { phone, id, text });
}

const encoded = ({ type, seconds, bytes }: Recording) => ({ type, seconds, data: bytes.toString('base64') });

/** The reply appears as far as it is written; nobody stores that, so a lost call is not repeated. */
async function showPart({ site }: World, person: Person, text: string): Promise<void> {
  const body = { phone: person.phone, text: text.slice(0, -2) };
  await site.bot('bot typing', '/api/bot/typing', person.nextId('typing'), body);
}

async function refuseOtherText({ site, seen }: World, body: Sent & { phone: string }): Promise<void> {
  const other = { ...body, text: `${body.text} changed` };
  const answer = await site.bot('bot message', '/api/bot/messages', `${body.id}_other`, other);
  if (!isNotNow(answer) && answer.status !== 409)
    seen.push(`another text under the reply ${body.id} was answered ${answer.status}`);
}
