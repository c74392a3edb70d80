import { dayMs } from '../lib/time.ts';
import type { StaleEpoch, StoredPage } from '../live/stored-message.ts';
import { liveUserOf } from '../live/publish.ts';
import type { WithEnv } from '../env.ts';
import type { Scope } from '../request-scope.ts';
import { chatKeyOf, type ChatRow } from './chat-keys.ts';
import { openMessage } from './message-encryption.ts';

/**
 * How long (ms) after a reply marked `crisis` a spent allowance refuses no message, and
 * waiting ones no text.
 */
const crisisMs = dayMs;
const repliesPerRead = 50;

export async function isInCrisis(
  scope: Scope<'settings' | 'now'> & WithEnv,
  user: ChatRow,
): Promise<boolean> {
  const { env, settings, now } = scope;
  const key = await chatKeyOf(settings, user);
  if (!key) return false;

  let page = await readBefore();
  while (page.outcome === 'read') {
    const recent = page.messages.filter(({ at }) => at + crisisMs > now);
    const replies = recent.filter(({ author }) => author === 'solace');
    const opened = await Promise.all(replies.map((reply) => openMessage(key, user.id, reply)));
    if (opened.some(({ crisis }) => crisis)) return true;

    const isLast = !page.hasMore || recent.length < page.messages.length;
    if (isLast) return false;
    page = await readBefore(recent[0]!.seq);
  }
  return false;

  async function readBefore(seq?: number): Promise<StoredPage | StaleEpoch> {
    return liveUserOf(env, user.id).read(user.chatEpoch, seq, repliesPerRead);
  }
}
