import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { consentVersion } from '../../../worker/contract/chat-limits.ts';
import type { Person, Choices, Recording, Sent } from '../person.ts';
import {
  callUntilTaken,
  untilTaken,
  untilTakenBySession,
  type World,
  isNotNow,
  untilClosing,
} from '../rig.ts';
import { ChatFollower, readPage } from './streams.ts';

/** What the containers begin with. */
const beginnings: Record<string, string> = {
  'audio/webm;codecs=opus': '\x1a\x45\xdf\xa3 webm ',
  'audio/mp4': '\0\0\0\x20ftypiso5',
  'audio/ogg;codecs=opus': `OggS${'\0'.repeat(24)}OpusHead`,
};

/** A recording in one of the three containers, whose bytes are the run's marker again and again. */
function recordingOf({ marker }: World, { choices }: Person, id: string): Recording {
  const type = choices.pick(Object.keys(beginnings));
  const bytes = Buffer.alloc(choices.between(1000, 300_000), `${marker} ${id} `);
  bytes.write(beginnings[type]!, 'latin1');
  return { type, seconds: choices.between(1, 120), bytes };
}

export async function openChat(world: World, person: Person): Promise<void> {
  const answer = await callUntilTaken(world, person, 'putChatConsent', {
    body: { version: consentVersion },
  });
  person.conversation.consented = answer.status === 200;
  for (let tabs = person.choices.between(1, 2); tabs > 0; tabs -= 1)
    person.chats.push(new ChatFollower(world, person).open());
}

export async function writeOnWeb(world: World, person: Person): Promise<void> {
  if (!person.conversation.consented) await openChat(world, person);
  const atOnce = person.choices.chance(0.2) ? person.choices.between(2, 4) : 1;
  await Promise.all(Array.from({ length: atOnce }, () => sendMessage(world, person)));
}

type Manner = { hangUp?: boolean; isSpoken?: boolean };

/** Sends a text or a recording until it is accepted, at times with a lost response first, or with a repetition afterwards. */
export async function sendMessage(
  world: World,
  person: Person,
  manner: Manner = {},
): Promise<void> {
  const { hangUp = person.choices.chance(0.15), isSpoken = person.choices.chance(0.3) } = manner;
  const id = randomUUID();
  const recording = isSpoken ? recordingOf(world, person, id) : undefined;
  const text = isSpoken ? '' : `${world.marker} ${person.nextId('message')}`;
  const sent: Sent = {
    id,
    text,
    recording,
    sentAt: performance.now(),
    isInFlight: true,
  };
  person.conversation.sent.set(id, sent);
  await untilAccepted(world, person, sent, hangUp).finally(() => (sent.isInFlight = false));
}

function attempt(
  { site }: World,
  { id, text, recording }: Sent,
  token?: string,
  hangUpMs?: number,
) {
  if (!recording)
    return site.call('sendMessage', {
      token,
      body: { id, text },
      hangUpMs,
    });
  const query = { id, seconds: String(recording.seconds) };
  return site.call('sendVoice', {
    token,
    query,
    recording,
    hangUpMs,
  });
}

async function untilAccepted(
  world: World,
  person: Person,
  sent: Sent,
  hangUp: boolean,
): Promise<void> {
  const { choices, phone } = person;
  const { id, text, recording } = sent;
  const once = (token: string | undefined, hangUpMs?: number) =>
    attempt(world, sent, token, hangUpMs);
  const again = choices.chance(0.1);
  if (hangUp) await once(person.token, choices.between(2, 40));
  const answer = await untilTakenBySession(world, person, once);
  if (answer.status !== 200) {
    const expected = answer.code === 'allowance_spent' || (person.left && answer.status < 500);
    if (!expected) world.seen.push(`${phone} could not send ${id}: ${answer.code}`);
    return;
  }
  const { message } = answer.body;
  const isSame = recording ? message.voice !== undefined : message.text === text;
  if (!isSame) world.seen.push(`${phone}: ${id} has another text in its response`);
  if (!sent.clearing) sent.accepted = { ...message, text };
  sent.acceptedAt = performance.now();
  if (!again) return;
  const second = await untilTakenBySession(world, person, once);
  const repeated = second.body.message;
  // If the bot has refused the message meanwhile, this is a new attempt.
  if (repeated?.state !== 'delivered') sent.isResent = true;
  if (person.left || sent.clearing || repeated?.seq === message.seq) return;
  world.seen.push(
    `${phone}: ${id} was stored as ${message.seq}, then ${repeated?.seq ?? second.code}`,
  );
}

export async function resendFailed(world: World, { conversation, token }: Person): Promise<void> {
  const page = await readPage(world.site, token!);
  for (const { id } of page?.messages.filter(({ state }) => state === 'failed') ?? []) {
    const sent = conversation.sent.get(id)!;
    sent.isResent = true;
    await attempt(world, sent, token);
  }
}

export async function clearConversation(world: World, person: Person): Promise<void> {
  if (!person.conversation.consented) return;
  const confirm = person.conversation.beginClearing();
  const { status } = await callUntilTaken(world, person, 'clearChat');
  if (status === 200) confirm();
}

/** Until the end, the bot sometimes refuses every message for a while; with `silent` it also does not respond. */
export async function keepRefusing(world: World, choices: Choices, silent: boolean): Promise<void> {
  const { rig, figures, closing } = world;
  while (!closing.aborted) {
    await untilClosing(world, choices.between(4000, 12_000));
    if (closing.aborted) return;
    const mode = silent && choices.chance(0.3) ? 'silent' : 'refuse';
    figures.injected(
      mode === 'silent' ? 'bot does not respond to messages' : 'bot refuses messages',
    );
    await rig.control('PUT', '/bot/mode', { mode });
    await sleep(choices.between(300, 2000));
    await rig.control('PUT', '/bot/mode', { mode: 'answer' });
    figures.timeline.note('bot answers messages');
  }
}

export async function receiveReply(world: World, person: Person): Promise<void> {
  const { choices, conversation, phone } = person;
  if (!conversation.consented) return;
  const id = person.nextId('reply');
  const text = `${world.marker} reply ${person.index}`;
  const recording = choices.chance(0.3) ? recordingOf(world, person, id) : undefined;
  const { type, seconds, bytes } = recording ?? {};
  const voice = bytes && {
    type,
    seconds,
    data: bytes.toString('base64'),
  };
  const body = { phone, id, text, ...(voice && { voice }) };
  // Nobody stores what is typed, so a lost call is not repeated.
  const typed = { phone, text: text.slice(0, -2) };
  if (choices.chance(0.5)) await world.site.bot('botTyping', person.nextId('typing'), typed);
  const call = (name: string, sent: object) => world.site.bot('botMessages', `${id}_${name}`, sent);
  const calls = choices.chance(0.4) ? ['a', 'b'] : ['a'];
  const answers = await Promise.all(
    calls.map((name) => untilTaken(world, person, () => call(name, body))),
  );
  const results = new Set(answers.map(({ code, body: { seq } }) => seq ?? code));
  const [seq] = results;
  if (results.size !== 1 || typeof seq !== 'number') {
    world.seen.push(`${phone}: the reply ${id} got ${[...results].join(' and ')}`);
    return;
  }
  conversation.replies.push({
    id,
    text,
    seq,
    author: 'solace',
    state: 'delivered',
    recording,
  });
  if (!choices.chance(0.1)) return;
  const other = await call('other', {
    phone,
    id,
    text: `${text} changed`,
  });
  if (!isNotNow(other) && other.status !== 409)
    world.seen.push(`another text under the reply ${id} was answered ${other.status}`);
}
