import { type Context, Hono } from 'hono';
import { businessUserIdOf, numberOf, type Phones } from '../phones.ts';
import { ApiError, createApi } from './calls.ts';
import { replyTo, type Usage } from './chat.ts';

export type Settings = { phones: Phones; siteUrl: string; secret: string };

type Input = { text?: unknown; voice?: unknown; tier?: unknown; days?: unknown; status?: unknown; language?: unknown };

/** The control calls of a phone: write, get a trial, set the approval. */
export function createPhoneActions({ phones, siteUrl, secret }: Settings): Hono {
  const callApi = createApi(siteUrl, secret);
  const app = new Hono();
  /** How WhatsApp names the person to the bot. */
  const personOf = (number: string): { phone?: string; businessUserId?: string } =>
    phones.find(number)?.hidden ? { businessUserId: businessUserIdOf(number) } : { phone: `+${number}` };
  /** What the bot says to somebody whom it cannot name; other errors pass. */
  const hiddenProblem = (error: unknown): string => {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 404)
      return `I cannot see your number. Open ${siteUrl}/login and send me the message that it shows.`;
    if (error.status === 400) return `This code is used or too old. Open ${siteUrl}/login for a new one.`;
    throw error;
  };

  app.post('/phones/:phone/messages', async (c) => {
    const { number, input } = await read(c);
    const voice = input.voice === true;
    const text = typeof input.text === 'string' && input.text.trim() ? input.text : voice ? 'Voice message' : 'Hi';
    phones.add(number, { from: 'user', text, chat: true, ...(voice && { voice }) });
    const person = personOf(number);
    const linkCode = person.phone ? undefined : linkCodeIn(text);
    const problem = await callApi('/api/bot/contacts', {
      ...person,
      ...(person.phone && { whatsappId: number }),
      linkCode,
    })
      .then(() => null)
      .catch((error: unknown) => (person.phone ? Promise.reject(error) : hiddenProblem(error)));
    if (problem) {
      phones.add(number, { from: 'solace', text: problem, chat: true });
      return c.json({ reply: problem, usage: null });
    }
    const kind = voice ? 'voice' : 'text';
    const usage = await callApi<Usage>('/api/bot/usage', { ...person, kind });
    const isClaim = linkCode !== undefined && !usage.allowed && usage.used === 0;
    const reply = isClaim
      ? 'Thank you! Type the code that has just arrived on the page that you came from.'
      : replyTo(usage, voice, siteUrl);
    phones.add(number, { from: 'solace', text: reply, chat: true });
    return c.json({ reply, usage });
  });

  app.post('/phones/:phone/trial', async (c) => {
    const { number, input } = await read(c);
    const { tier, days, language } = input;
    const body = { ...personOf(number), tier, days, language };
    const { url } = await callApi<{ url: string }>('/api/bot/trials', body);
    phones.add(number, {
      from: 'solace',
      text: `Here is your free trial. Open this link to start it: ${url}`,
      chat: true,
    });
    return c.json({ url });
  });

  app.post('/phones/:phone/status', async (c) => {
    const { number, input } = await read(c);
    return c.json(await callApi<object>('/api/bot/approvals', { ...personOf(number), status: input.status }));
  });

  app.onError((error, c) => {
    if (error instanceof InvalidNumber) return c.json({ error: error.message }, 400);
    if (!(error instanceof ApiError)) throw error;
    const { message, path, status, response } = error;
    return c.json({ error: message, call: path, status, response }, 502);
  });
  return app;
}

/** The code of the login page at the end of a message. */
const linkCodeIn = (text: string) => /([2-9A-HJKMNP-Z]{8})\s*$/.exec(text)?.[1];

class InvalidNumber extends Error {}

async function read(c: Context): Promise<{ number: string; input: Input }> {
  const number = numberOf(c);
  if (!number) throw new InvalidNumber('A phone is a number with its country code, such as +15551234567');
  const body: unknown = await c.req.json().catch(() => ({}));
  return { number, input: typeof body === 'object' && body !== null ? body : {} };
}
