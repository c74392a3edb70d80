import { Webhook } from 'standardwebhooks';
import type { Settings } from '../../../settings.ts';
import { httpRequest } from '../http-request.ts';
import { fine, warning, wrong, type Finding } from '../finding.ts';
import { howToGet } from '../how-to-get.ts';

/** A signed body that is no event, which the bot ignores. */
const body = '{}';

/** Whether the bot responds, refuses unsigned calls, and accepts our signature. */
export async function checkBot(settings: Settings): Promise<Finding[]> {
  const url = settings.BOT_WEBHOOK_URL;
  if (!url) {
    const what = 'is missing, so the bot gets no events and nobody can write on the web';
    return [warning('BOT_WEBHOOK_URL', what, howToGet.BOT_WEBHOOK_URL)];
  }
  const unsigned = await post(url, {});
  if (typeof unsigned === 'string') return [failureReason(unsigned)];
  if (unsigned < 400) {
    const what = 'the bot takes calls that nobody signed';
    return [wrong('BOT_WEBHOOK_URL', what, 'Let the bot verify them as Standard Webhooks says.')];
  }
  const signed = await post(url, signature(settings.BOT_WEBHOOK_SECRET));
  if (typeof signed === 'string') return [failureReason(signed)];
  if (signed === 401 || signed === 403) {
    return [wrong('BOT_WEBHOOK_SECRET', 'the bot refuses what it signs', howToGet.BOT_WEBHOOK_SECRET)];
  }
  return [fine('The bot answers and takes our signature')];
}

/** The status, or the reason why there is none. */
async function post(url: string, headers: Record<string, string>): Promise<number | string> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body };
  const response = await httpRequest(url, init);
  if ('failure' in response) return response.failure;
  await response.body?.cancel();
  const lost = response.status === 404 || response.status === 405 || response.status >= 500;
  return lost ? `it answers ${response.status}` : response.status;
}

function signature(secrets: string[]): Record<string, string> {
  const [id, at] = [`doctor_${crypto.randomUUID()}`, new Date()];
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(' '),
  };
}

function failureReason(why: string): Finding {
  return wrong('BOT_WEBHOOK_URL', `the bot does not answer (${why})`, howToGet.BOT_WEBHOOK_URL);
}
