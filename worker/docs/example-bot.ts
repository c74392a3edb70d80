/* A bot for the conversation on the web. Run it with `npx node worker/docs/example-bot.ts`; bot-api.md explains it. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';

const { SITE_URL = 'http://localhost:8787', BOT_WEBHOOK_SECRET = '', BOT_PORT = '8789' } = process.env;
/** An OpenAI-compatible address such as https://api.openai.com/v1. Without one, the bot repeats what it reads. */
const { MODEL_URL, MODEL_KEY, MODEL_NAME = 'gpt-4o-mini' } = process.env;

/** `businessUserId` stands beside `phone` if it is known. On WhatsApp a person may have the id alone: every call takes either. */
type Event = {
  type: string;
  data: { phone: string; businessUserId?: string; messageId: string; text: string; voice?: { seconds: number } };
};
type Turn = { role: 'user' | 'assistant'; content: string };
type Usage = { allowed: boolean; limit: number };

const webhooks = BOT_WEBHOOK_SECRET.trim()
  .split(/\s+/)
  .map((secret) => new Webhook(secret));
const tone = 'You are Solace, a calm companion. You are an AI, no therapist. Answer in two or three sentences.';
/** Looks for the plainest words only: a real bot asks a model that was made for it. */
const crisis = /crisis|suicid|kill myself|end my life/i;
const crisisText =
  'You deserve help from a person right now. Please call your local emergency number or a crisis line.';
const turnsKept = 20;

/** A real bot keeps these three in a database: events arrive at least once, also after a restart. */
const seen = new Set<string>();
const history = new Map<string, Turn[]>();
const queues = new Map<string, Promise<void>>();

createServer((request, response) => void receive(request, response)).listen(Number(BOT_PORT), () => {
  process.stdout.write(`The bot listens on port ${BOT_PORT}\n`);
});

/** Responds before it thinks: Solace waits 15 seconds, then sends the event again. */
async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = Buffer.concat(await request.toArray()).toString();
  if (!isSigned(body, request.headers)) return void response.writeHead(401).end();
  const event: Partial<Event> = JSON.parse(body);
  if (!event.type || !event.data) return void response.writeHead(400).end();
  accept(event.type, event.data);
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

function accept(type: string, data: Event['data']): void {
  if (type === 'chat.cleared' || type === 'user.deleted') history.delete(data.phone);
  if (type !== 'chat.message' || seen.has(data.messageId)) return;
  seen.add(data.messageId);
  // One message of a person after the other, so that replies keep the order of the messages.
  const before = queues.get(data.phone) ?? Promise.resolve();
  const next = before
    .then(() => answer(data))
    .catch((error: unknown) => void process.stderr.write(`${String(error)}\n`));
  queues.set(data.phone, next);
}

/** Every id follows from the message, so that nothing is counted or shown twice if this runs again. */
async function answer({ phone, messageId, text: written, voice }: Event['data']): Promise<void> {
  await call('/api/bot/typing', { phone, seconds: 30 }, `typing_${messageId}`);
  const text = voice ? await transcribe(phone, messageId) : written;
  const isCrisis = crisis.test(text);
  const kind = voice ? 'voice' : 'text';
  const usage = await call<Usage>('/api/bot/usage', { phone, kind }, `usage_${messageId}`);
  const reply = isCrisis ? crisisText : usage.allowed ? await think(phone, text) : spent(usage);
  await appear(phone, reply);
  const message = { phone, id: `reply-${messageId}`, text: reply, replyTo: messageId, crisis: isCrisis };
  await call('/api/bot/messages', message, `message_${messageId}`);
}

/** A real bot sends the bytes to a model that understands speech; this one says how many there are. */
async function transcribe(phone: string, id: string): Promise<string> {
  const response = await post('/api/bot/voice', { phone, id }, `voice_${id}`);
  const { byteLength } = await response.arrayBuffer();
  const text = `A recording of ${byteLength} bytes`;
  await call('/api/bot/transcripts', { phone, id, text }, `transcript_${id}`);
  return text;
}

/** Shows the first half of the reply; a real bot shows what its model has written so far, twice a second. */
async function appear(phone: string, text: string): Promise<void> {
  const words = text.split(' ');
  const half = words.slice(0, Math.ceil(words.length / 2)).join(' ');
  if (half.trim()) await call('/api/bot/typing', { phone, text: half }, `typing_${crypto.randomUUID()}`);
}

function spent({ limit }: Usage): string {
  return `You have used this week's ${limit} messages. More messages: ${SITE_URL}/plans`;
}

async function think(phone: string, text: string): Promise<string> {
  if (!MODEL_URL) return `You wrote: ${text}`;
  const turns: Turn[] = [...(history.get(phone) ?? []), { role: 'user', content: text }];
  const response = await fetch(`${MODEL_URL}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(MODEL_KEY && { authorization: `Bearer ${MODEL_KEY}` }) },
    body: JSON.stringify({ model: MODEL_NAME, messages: [{ role: 'system', content: tone }, ...turns] }),
  });
  if (!response.ok) return 'I cannot think clearly right now. Please write to me again in a minute.';
  const { choices }: { choices: { message: { content: string } }[] } = await response.json();
  const reply = choices
    .map(({ message }) => message.content)
    .join('\n')
    .slice(0, 8000);
  history.set(phone, [...turns, { role: 'assistant' as const, content: reply }].slice(-turnsKept));
  return reply;
}

/** The JSON of a call. */
async function call<Result>(path: string, input: object, id: string): Promise<Result> {
  const response = await post(path, input, id);
  return (await response.json()) as Result;
}

/** A signed call of the API; tries again while Solace does not respond or says 429 or 5xx. */
async function post(path: string, input: object, id: string, tries = 5): Promise<Response> {
  const [body, at] = [JSON.stringify(input), new Date()];
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': webhooks.map((webhook) => webhook.sign(id, at, body)).join(' '),
  };
  const response = await fetch(SITE_URL + path, { method: 'POST', headers, body }).catch(() => null);
  if (response?.ok) return response;
  const passes = !response || response.status === 429 || response.status >= 500;
  if (!passes || tries === 1) throw new Error(`${path} responded ${response?.status ?? 'nothing'}`);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  return post(path, input, id, tries - 1);
}
