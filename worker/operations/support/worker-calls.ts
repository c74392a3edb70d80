import { eq } from 'drizzle-orm';
import { Webhook } from 'standardwebhooks';
import { users } from '#db/schema';
import type { Endpoint } from '../../contract/endpoints.ts';
import type { PhoneNumber } from '../../identity/phone.ts';
import type { Settings } from '../../settings.ts';
import { supportToken } from '../../sign-in/session-token.ts';
import { callApi, CallRefused, type Result, type SupportRequest } from './command-audit.ts';

export async function numberOf(
  { db }: SupportRequest,
  userId: string,
): Promise<PhoneNumber | null> {
  const [user] = await db.select({ phone: users.phone }).from(users).where(eq(users.id, userId));
  return user?.phone ?? null;
}

/** The Worker works on after its caller has disconnected. */
export async function outcomeOf(
  call: Promise<unknown>,
  isDone: () => Promise<boolean>,
  result: Result,
): Promise<Result> {
  try {
    await call;
    return result;
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof CallRefused)
      throw new Error(`The account stays: ${message}`, { cause: error });
    if (await isDone().catch(() => false))
      return {
        ...result,
        text: `${result.text} The response was lost: ${message}`,
      };
    const text = `${message} The Worker may still be at work: look with \`find\` in two minutes, then repeat this.`;
    return {
      data: { success: false, message: text },
      text,
      complete: false,
    };
  }
}

/** Only the holder of `SESSION_KEYS` can sign it. */
export async function callAbout<T>(
  settings: Settings,
  userId: string,
  { path, method }: Pick<Endpoint, 'path' | 'method'>,
  input?: object,
): Promise<T> {
  const authorization = `Bearer ${await supportToken(settings, userId)}`;
  if (!input)
    return callApi<T>(settings, path, {
      method,
      headers: { authorization },
    });

  const headers = { authorization, 'content-type': 'application/json' };
  return callApi<T>(settings, path, {
    method,
    headers,
    body: JSON.stringify(input),
  });
}

/** The same rules apply as to the bot. */
export async function callAsBot<T>(settings: Settings, path: string, fields: object): Promise<T> {
  const body = JSON.stringify(fields);
  const [id, at] = [`support_${crypto.randomUUID()}`, new Date()];
  const signature = settings
    .require('BOT_WEBHOOK_SECRET')
    .map((secret) => new Webhook(secret).sign(id, at, body))
    .join(' ');
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': signature,
  };
  return callApi<T>(settings, path, {
    method: 'POST',
    headers,
    body,
  });
}
