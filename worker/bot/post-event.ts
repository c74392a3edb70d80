import { Webhook } from 'standardwebhooks';
import type { Settings } from '../settings.ts';

const timeoutMs = 15_000;
/** Client errors that are worth a retry: Request Timeout, Too Early, Too Many Requests. */
const temporary = new Set([408, 425, 429]);

/** Posts a signed event to the bot; the result is accepted, permanently refused, or worth a retry. */
export async function postEvent(
  settings: Settings,
  id: string,
  body: string,
): Promise<'taken' | 'refused' | 'unknown'> {
  const at = new Date();
  const signatures = settings.BOT_WEBHOOK_SECRET.map((secret) => new Webhook(secret).sign(id, at, body));
  try {
    const response = await fetch(settings.BOT_WEBHOOK_URL!, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': signatures.join(' '),
      },
      body,
      // Another address may not belong to the bot.
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.body?.cancel();
    if (response.ok) return 'taken';
    return response.status >= 400 && response.status < 500 && !temporary.has(response.status) ? 'refused' : 'unknown';
  } catch {
    return 'unknown';
  }
}
