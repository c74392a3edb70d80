import type { Env } from '../env.ts';
import { log } from '../lib/log.ts';
import type { ChannelMessage } from '../usage/usage-channel.ts';

type Background = { env: Env; waitUntil: (work: Promise<unknown>) => void };

/** Pauses (ms) before each attempt; a Worker may go on for 30 s after its response. */
const endPauses = [0, 1000, 4000, 10_000];

/** Sends messages to the open streams of a user; retries once, since an object that is being moved refuses a call. */
export async function publish(env: Env, userId: string, ...messages: ChannelMessage[]): Promise<void> {
  const channel = () => env.USAGE_CHANNEL.getByName(userId);
  try {
    await channel().publish(messages);
  } catch {
    await channel().publish(messages);
  }
}

/** Announces to the user's Durable Objects that sessions are about to end; call it before the change is written. */
export function expectEnd({ env, waitUntil }: Background, userId: string): void {
  for (const objects of [env.USAGE_CHANNEL, env.CONVERSATION]) {
    waitUntil(objects.getByName(userId).expectEnd().catch(logUnreachable));
  }
}

/** Ends the streams of a session, or of all sessions of the user. */
export function endStreams({ env, waitUntil }: Background, userId: string, sessionId: string | null): void {
  waitUntil(withRetries(() => publish(env, userId, { kind: 'end', sessionId })));
  waitUntil(withRetries(() => env.CONVERSATION.getByName(userId).endStreams(sessionId)));
}

async function withRetries(end: () => Promise<void>): Promise<void> {
  for (const pause of endPauses) {
    await scheduler.wait(pause);
    const sent = await end().then(
      () => true,
      () => false,
    );
    if (sent) return;
  }
  logUnreachable();
}

function logUnreachable(): void {
  log('error', 'channel_unreachable', {});
}
