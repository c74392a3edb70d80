import * as v from 'valibot';
import { Webhook } from 'standardwebhooks';
import type { Settings } from '../../settings.ts';
import { minuteMs } from '../../lib/time.ts';
import type { Restore } from './restore.ts';

const AcceptedEvent = v.object({
  type: v.string(),
  timestamp: v.pipe(v.string(), v.isoTimestamp()),
  data: v.record(v.string(), v.unknown()),
});
const AcceptedPage = v.object({
  events: v.array(AcceptedEvent),
  next: v.optional(v.string()),
});

export type AcceptedEvent = v.InferOutput<typeof AcceptedEvent>;

const pagesAtMost = 10_000;

/**
 * What the bot has accepted between the instants (unix ms),
 * oldest first. Throws a sentence if it does not say.
 */
export async function acceptedSince(
  settings: Settings,
  { at, until }: Pick<Restore, 'at' | 'until'>,
): Promise<AcceptedEvent[]> {
  const events: AcceptedEvent[] = [];
  let after: string | undefined;

  for (let page = 0; page < pagesAtMost; page += 1) {
    const { events: more, next } = await ask(settings, at, after);
    events.push(...more);
    if (next === undefined) break;
    after = next;
  }

  const instant = ({ timestamp }: AcceptedEvent) => Date.parse(timestamp);
  const isLost = (event: AcceptedEvent) => instant(event) > at && instant(event) <= until;
  return events.filter(isLost).toSorted((a, b) => instant(a) - instant(b));
}

async function ask(settings: Settings, at: number, after: string | undefined) {
  const url = settings.require('BOT_WEBHOOK_URL');
  const secrets = settings.require('BOT_WEBHOOK_SECRET');
  if (!url) throw new Error('There is no BOT_WEBHOOK_URL.');

  const now = new Date();
  const data = {
    since: new Date(at).toISOString(),
    ...(after !== undefined && { after }),
  };
  const body = JSON.stringify({
    type: 'events.requested',
    timestamp: now.toISOString(),
    data,
  });

  const id = `restore_${crypto.randomUUID()}`;
  const signature = secrets.map((secret) => new Webhook(secret).sign(id, now, body)).join(' ');

  const response = await fetch(url, {
    method: 'POST',
    redirect: 'manual',
    signal: AbortSignal.timeout(minuteMs),
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': signature,
    },
    body,
  }).catch(() => {
    throw new Error('The bot does not respond.');
  });
  if (!response.ok) throw new Error(`The bot answered ${response.status}.`);

  const accepted = v.safeParse(AcceptedPage, await response.json().catch(() => null));
  if (!accepted.success) throw new Error('The bot does not give its events back.');
  return accepted.output;
}
