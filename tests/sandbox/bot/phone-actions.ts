import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { readControl } from '../stripe/control.ts';
import { businessUserIdOf, numberOf, type Setup } from '../setup.ts';
import { ApiError, createApi } from './calls.ts';
import { replyTo, type Usage } from './chat.ts';

/** How WhatsApp names the person to the bot. */
type Person = { phone?: string; businessUserId?: string };

/** The control calls of a phone: read, write, hide its number, get a trial, set the approval. */
export function createPhoneActions({ phones, siteUrl, secrets, store }: Setup): Hono {
  const callApi = createApi(siteUrl, secrets.BOT_WEBHOOK_SECRET);
  const app = new Hono();
  const personOf = (number: string): Person =>
    phones.find(number)?.hidden
      ? { businessUserId: businessUserIdOf(number) }
      : { phone: `+${number}` };

  /** The usage and the bot's reply; the usage is null for somebody whom the bot cannot name. */
  async function answer(
    number: string,
    text: string,
    voice: boolean,
  ): Promise<{ reply: string; usage: Usage | null }> {
    const person = personOf(number);
    const linkCode = linkCodeIn(text);
    const code = person.phone ? undefined : /^\s*(\d{6})\s*$/.exec(text)?.[1];
    try {
      const names = person.phone
        ? {
            ...person,
            whatsappId: number,
          }
        : {
            ...person,
            code,
          };
      await callApi('/api/bot/contacts', { ...names, linkCode });
    } catch (error) {
      if (person.phone) throw error;
      return { reply: hiddenProblem(error, siteUrl), usage: null };
    }
    const usage = await callApi<Usage>('/api/bot/usage', {
      ...person,
      kind: voice ? 'voice' : 'text',
    });
    const isClaim = !person.phone && linkCode !== undefined && !usage.allowed && usage.used === 0;
    const claimed =
      'Thank you! Type the code that has just arrived on the page that you came from.';
    return {
      reply: isClaim ? claimed : replyTo(usage, voice, siteUrl),
      usage,
    };
  }

  app.get('/phones', (c) => c.json(phones.recent()));
  app.get('/phones/:phone/messages', (c) => c.json(phones.messages(numberOf(c))));
  app.put('/phones/:phone/hidden', async (c) => {
    const { hidden } = await readControl(c, v.object({ hidden: v.boolean() }));
    phones.hide(numberOf(c), hidden);
    return c.json({ hidden });
  });

  app.post('/phones/:phone/messages', async (c) => {
    const { number, input } = await read(c);
    const voice = input['voice'] === true;
    const written =
      typeof input['text'] === 'string' && input['text'].trim() ? input['text'] : undefined;
    const text = written ?? (voice ? 'Voice message' : 'Hi');
    phones.add(number, {
      from: 'user',
      text,
      ...(voice && { voice }),
    });
    const answered = await answer(number, text, voice);
    phones.add(number, { from: 'solace', text: answered.reply });
    return c.json(answered);
  });

  app.post('/phones/:phone/trial', async (c) => {
    const { number, input } = await read(c);
    const { tier, days, language } = input;
    const { url } = await callApi<{ url: string }>('/api/bot/trials', {
      ...personOf(number),
      tier,
      days,
      language,
    });
    const text = `Here is your free trial. Open this link to start it: ${url}`;
    phones.add(number, { from: 'solace', text });
    return c.json({ url });
  });

  app.post('/phones/:phone/status', async (c) => {
    const { number, input } = await read(c);
    const { status } = input;
    const answer = await callApi<object>('/api/bot/approvals', {
      ...personOf(number),
      status,
    });
    const timestamp = new Date().toISOString();
    if (status === 'pending')
      store.put('bot-ended-approvals', crypto.randomUUID(), {
        type: 'user.approved',
        timestamp,
        data: { ...personOf(number), status },
      });
    return c.json(answer);
  });
  return app;
}

/** What the bot says to somebody whom it cannot name; other errors pass. */
function hiddenProblem(error: unknown, siteUrl: string): string {
  const status = error instanceof ApiError ? error.apiStatus : null;
  if (status === 404)
    return `I cannot see your number. Open ${siteUrl}/login and send me the message that it shows.`;
  if (status === 400) return `This code is used or too old. Open ${siteUrl}/login for a new one.`;
  throw error;
}

/** The code of the login page at the end of a message. */
const linkCodeIn = (text: string) => /([2-9A-HJKMNP-Z]{8})\s*$/.exec(text)?.[1];

async function read(c: Context): Promise<{
  number: string;
  input: Record<string, unknown>;
}> {
  const number = numberOf(c);
  return {
    number,
    input: await readControl(c, v.record(v.string(), v.unknown())),
  };
}
