/** Run it with `npx node worker/docs/example-bot.ts`. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';

const {
  SITE_URL = 'http://localhost:8787',
  BOT_WEBHOOK_SECRET = '',
  BOT_PORT = '8789',
} = process.env;
/** Without one, the bot repeats what it reads. */
const { MODEL_URL, MODEL_KEY, MODEL_NAME = 'gpt-4o-mini' } = process.env;

/** Without it, the bot is on the web alone. */
const { WHATSAPP_URL = '', WHATSAPP_TOKEN = '', WHATSAPP_APP_SECRET = '' } = process.env;

/** WhatsApp may hide the number and give an id instead. */
type Person = {
  phone?: string | undefined;
  businessUserId?: string | undefined;
};
type Data = Person & {
  userId: string;
  messageId: string;
  text: string;
  voice?: Voice;
  previousPhone?: string;
  version?: string | null;
};
/** `timestamp` is ISO 8601, UTC. */
type Event = {
  type: string;
  timestamp: string;
  data: Data;
};
type WhatsappMessage = {
  id: string;
  from?: string;
  from_user_id?: string;
  text?: { body: string };
};
type Voice = { seconds: number; type: string };
type Turn = {
  role: 'user' | 'assistant';
  content: string;
  at: string;
};
type Usage = {
  allowed: boolean;
  used: number;
  limit: number;
};

const webhooks = BOT_WEBHOOK_SECRET.trim()
  .split(/\s+/)
  .map((secret) => new Webhook(secret));
const tone =
  'You are Solace, a calm companion. You are an AI, no therapist. Answer in two or three sentences.';
/** A real bot asks a model that was made for it. */
const crisis = /crisis|suicid|kill myself|end my life/i;
const crisisText =
  'You deserve help from a person right now. Please call your local emergency number or a crisis line.';
const turnsKept = 20;

/**
 * A real bot keeps these three in a database: events
 * arrive at least once, also after a restart.
 */
const seen = new Set<string>();
const history = new Map<string, Turn[]>();
const queues = new Map<string, Promise<void>>();

createServer((request, response) => void receive(request, response)).listen(
  Number(BOT_PORT),
  () => {
    process.stdout.write(`The bot listens on port ${BOT_PORT}\n`);
  },
);

/** Solace waits 15 seconds, then sends the event again. */
async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = Buffer.concat(await request.toArray()).toString();
  if (request.url === '/whatsapp')
    return void response.writeHead(receiveWhatsapp(body, request.headers)).end();
  if (!isSigned(body, request.headers)) return void response.writeHead(401).end();
  const event: Partial<Event> = JSON.parse(body);
  if (!event.type || !event.timestamp || !event.data) return void response.writeHead(400).end();
  accept(event.type, event.timestamp, event.data);
  response.writeHead(204).end();
}

function isSigned(body: string, headers: IncomingMessage['headers']): boolean {
  return webhooks.some((webhook) => {
    try {
      webhook.verify(body, headers as Record<string, string>, { jsonParse: false });
      return true;
    } catch {
      return false;
    }
  });
}

/** On WhatsApp the key is the number, or the id. */
function accept(type: string, timestamp: string, data: Data): void {
  const { userId, phone = '', businessUserId = '', version, previousPhone } = data;

  if (type === 'chat.cleared' || (type === 'chat.consent' && version === null))
    history.delete(userId);
  if (type === 'user.deleted')
    for (const key of [userId, phone, businessUserId]) forget(key, timestamp);

  if (type === 'user.phone_changed' && previousPhone) {
    history.set(phone, history.get(previousPhone) ?? []);
    history.delete(previousPhone);
    inOrder(previousPhone, `changed_${phone}`, () =>
      sendOnWhatsapp({ phone: previousPhone }, moved),
    );
  }

  if (type === 'chat.message') inOrder(userId, data.messageId, () => answer(data));
}

/** What is newer belongs to the number's next account. */
function forget(key: string, until: string): void {
  history.set(
    key,
    (history.get(key) ?? []).filter(({ at }) => at > until),
  );
}

const moved =
  'Your Solace account has a new number. If that was not you, write to our support at once.';

function inOrder(key: string, id: string, work: () => Promise<void>): void {
  if (seen.has(id)) return;
  seen.add(id);
  const before = queues.get(key) ?? Promise.resolve();
  const next = before
    .then(work)
    .catch((error: unknown) => void process.stderr.write(`${String(error)}\n`));
  queues.set(key, next);
}

/** Nothing is counted or shown twice if this runs again. */
async function answer({
  phone,
  businessUserId,
  userId,
  messageId,
  text: written,
  voice,
}: Data): Promise<void> {
  // The event may be older than a change of the id.
  const person = phone ? { phone } : { businessUserId };
  await call('/api/bot/typing', { ...person, seconds: 30 }, `typing_${messageId}`);

  const heard = voice && (await hear(person, messageId));
  const text = heard?.text ?? written;
  const isCrisis = crisis.test(text);
  const kind = voice ? 'voice' : 'text';
  const usage = await call<Usage>('/api/bot/usage', { ...person, kind }, `usage_${messageId}`);
  const reply = isCrisis ? crisisText : usage.allowed ? await think(userId, text) : spent(usage);

  await appear(person, reply);
  const message = {
    ...person,
    id: `reply-${messageId}`,
    text: reply,
    replyTo: messageId,
    crisis: isCrisis,
  };

  // This bot has a voice only when it repeats a recording.
  const repeats = heard && usage.allowed && !isCrisis && !MODEL_URL;
  const spoken = repeats && {
    voice: {
      type: voice.type,
      seconds: voice.seconds,
      data: heard.bytes.toString('base64'),
    },
  };

  await call('/api/bot/messages', { ...message, ...spoken }, `message_${messageId}`);
}

/** A real bot sends the bytes to a model that understands speech. */
async function hear(
  person: Person,
  id: string,
): Promise<{
  text: string;
  bytes: Buffer;
}> {
  const response = await post('/api/bot/voice', { ...person, id }, `voice_${id}`);
  const bytes = Buffer.from(await response.arrayBuffer());
  const text = `A recording of ${bytes.length} bytes`;
  await call('/api/bot/transcripts', { ...person, id, text }, `transcript_${id}`);
  return { text, bytes };
}

/** A real bot shows what its model has written so far. */
async function appear(person: Person, text: string): Promise<void> {
  const words = text.split(' ');
  const half = words.slice(0, Math.ceil(words.length / 2)).join(' ');
  if (half.trim())
    await call('/api/bot/typing', { ...person, text: half }, `typing_${crypto.randomUUID()}`);
}

function spent({ limit }: Usage): string {
  return `You have used this week's ${limit} messages. More messages: ${SITE_URL}/plans`;
}

async function think(key: string, text: string): Promise<string> {
  if (!MODEL_URL) return `You wrote: ${text}`;

  const turns: Turn[] = [
    ...(history.get(key) ?? []),
    { role: 'user', content: text, at: new Date().toISOString() },
  ];

  const response = await fetch(`${MODEL_URL}/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(MODEL_KEY && { authorization: `Bearer ${MODEL_KEY}` }),
    },
    body: JSON.stringify({
      model: MODEL_NAME,
      messages: [
        { role: 'system', content: tone },
        ...turns.map(({ role, content }) => ({ role, content })),
      ],
    }),
  });
  if (!response.ok)
    return 'I cannot think clearly right now. Please write to me again in a minute.';

  const { choices }: { choices: { message: { content: string } }[] } = await response.json();
  const reply = choices
    .map(({ message }) => message.content)
    .join('\n')
    .slice(0, 8000);
  const answered: Turn = {
    role: 'assistant',
    content: reply,
    at: new Date().toISOString(),
  };

  history.set(key, [...turns, answered].slice(-turnsKept));
  return reply;
}

/** Other messages than texts are left out. */
function receiveWhatsapp(body: string, headers: IncomingMessage['headers']): number {
  const signature = `sha256=${createHmac('sha256', WHATSAPP_APP_SECRET).update(body).digest('hex')}`;
  const given = Buffer.from(String(headers['x-hub-signature-256'] ?? ''));
  if (
    !WHATSAPP_APP_SECRET ||
    given.length !== signature.length ||
    !timingSafeEqual(given, Buffer.from(signature))
  )
    return 401;
  const { entry }: { entry: { changes: { value: { messages?: WhatsappMessage[] } }[] }[] } =
    JSON.parse(body);
  const messages = entry.flatMap(({ changes }) =>
    changes.flatMap(({ value }) => value.messages ?? []),
  );
  for (const message of messages) {
    const { phone, businessUserId } = senderOf(message);
    inOrder((phone ?? businessUserId)!, message.id, () => answerOnWhatsapp(message));
  }
  return 200;
}

/** `from` is absent, empty, or the id once more. */
function senderOf({ from = '', from_user_id: businessUserId }: WhatsappMessage): Person {
  return {
    ...(/^\d+$/.test(from) && { phone: `+${from}` }),
    ...(businessUserId && { businessUserId }),
  };
}

async function answerOnWhatsapp(message: WhatsappMessage): Promise<void> {
  const { id, text } = message;
  const [person, written] = [senderOf(message), text?.body ?? ''];

  // The code claims a hidden number, or brings a login its code.
  const linkCode = /([2-9A-HJKMNP-Z]{8})\s*$/.exec(written)?.[1];
  // The code, sent back, proves a hidden number.
  const code = person.phone ? undefined : /^\D*(\d{6})\D*$/.exec(written)?.[1];
  const spelling = person.phone && { whatsappId: message.from };
  const contact = { ...person, ...spelling, linkCode, code };

  try {
    await call('/api/bot/contacts', contact, `contact_${id}`);
  } catch (error) {
    const reply = error instanceof Refused ? refusals[error.status] : undefined;
    if (!reply) throw error;
    return sendOnWhatsapp(person, reply);
  }

  if (code) return sendOnWhatsapp(person, proven);

  const usage = await call<Usage>('/api/bot/usage', person, `usage_${id}`);
  // The id belongs to nobody until the code has signed in.
  if (linkCode && !person.phone && !usage.allowed && usage.used === 0)
    return sendOnWhatsapp(person, claimed);

  const isCrisis = crisis.test(written);
  if (isCrisis) await call('/api/bot/referrals', person, `referral_${id}`);

  const key = (person.phone ?? person.businessUserId)!;
  await sendOnWhatsapp(
    person,
    isCrisis ? crisisText : usage.allowed ? await think(key, written) : spent(usage),
  );
}

const claimed = 'Thank you! Type the code that has just arrived on the page that you came from.';
const proven = 'Thank you! Now I know that this is you.';
const refusals: Record<number, string> = {
  400: `This code is used or too old. Open ${SITE_URL}/login for a new one.`,
  404: `I cannot see your number. If you have just signed in, send me the code that you typed there. If not, open ${SITE_URL}/login and send me the message that it shows.`,
  409: 'I cannot talk with you here at the moment. Please write to our support.',
};

/** WhatsApp drops a message whose `to` is an id. */
async function sendOnWhatsapp({ phone, businessUserId }: Person, text: string): Promise<void> {
  if (!WHATSAPP_URL) return;
  const to = phone ? { to: phone.slice(1) } : { recipient: businessUserId };
  await fetch(WHATSAPP_URL, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${WHATSAPP_TOKEN}`,
    },
    body: JSON.stringify({
      messaging_product: 'whatsapp',
      ...to,
      type: 'text',
      text: { body: text },
    }),
  });
}

class Refused extends Error {
  readonly status: number;

  constructor(path: string, status: number) {
    super(`${path} responded ${status || 'nothing'}`);
    this.status = status;
  }
}

async function call<Result>(path: string, input: object, id: string): Promise<Result> {
  const response = await post(path, input, id);
  return (await response.json()) as Result;
}

/** Tries again after a 429, a 5xx, or no response. */
async function post(path: string, input: object, id: string, tries = 5): Promise<Response> {
  const [body, at] = [JSON.stringify(input), new Date()];
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': webhooks.map((webhook) => webhook.sign(id, at, body)).join(' '),
  };
  const response = await fetch(SITE_URL + path, {
    method: 'POST',
    headers,
    body,
  }).catch(() => null);
  if (response?.ok) return response;
  const passes = !response || response.status === 429 || response.status >= 500;
  if (!passes || tries === 1) throw new Refused(path, response?.status ?? 0);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  return post(path, input, id, tries - 1);
}
