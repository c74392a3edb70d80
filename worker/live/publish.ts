import type { Env, WithEnv } from '../env.ts';
import { log } from '../lib/log.ts';
import type { Scope } from '../request-scope.ts';
import type { UsageChange } from './live-changes.ts';

/** A Worker may go on for 30 s after its response. */
const endPausesMs = [0, 1000, 4000, 10_000];

export function liveUserOf(env: Env, userId: string) {
  return env.LIVE_USER.getByName(userId);
}

/** An object that is being moved refuses a call. */
export async function publish(env: Env, userId: string, ...changes: UsageChange[]): Promise<void> {
  try {
    await liveUserOf(env, userId).publish(changes);
  } catch {
    await liveUserOf(env, userId).publish(changes);
  }
}

/** Call it before the change is written, if the user is known by then. */
export function expectEnd({ env, waitUntil }: Scope<'waitUntil'> & WithEnv, userId: string): void {
  waitUntil(liveUserOf(env, userId).expectEnd().catch(logUnreachable));
}

export function endStreams(
  { env, waitUntil }: Scope<'waitUntil'> & WithEnv,
  userId: string,
  sessionId: string | null,
): void {
  waitUntil(withRetries(() => liveUserOf(env, userId).endStreams(sessionId)));
}

async function withRetries(end: () => Promise<void>): Promise<void> {
  for (const pauseMs of endPausesMs) {
    await scheduler.wait(pauseMs);
    const sent = await end().then(
      () => true,
      () => false,
    );
    if (sent) return;
  }
  logUnreachable();
}

function logUnreachable(): void {
  log('error', 'live_object_unreachable', {});
}
