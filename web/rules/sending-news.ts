import type { ChatMessage } from '#contract/chat-schemas';
import type { PendingMessage } from './transcript.ts';

type State = ChatMessage['state'] | PendingMessage['state'];
export type SendingStates = ReadonlyMap<string, State>;

export function sendingStates(
  messages: readonly ChatMessage[],
  pending: readonly PendingMessage[],
): SendingStates {
  const own = messages.filter(({ author }) => author === 'user');
  return new Map([...own, ...pending].map(({ id, state }) => [id, state]));
}

const isFailure = (state: State | undefined) => state === 'unsent' || state === 'failed';
const isSuccess = (state: State | undefined) => state === 'sent' || state === 'delivered';

type News = { news: 'failed' | 'sent' | null; failed: ReadonlySet<string> };

/** Says what changed, for people who do not see the list. */
export function sendingNews(
  before: SendingStates,
  now: SendingStates,
  failed: ReadonlySet<string>,
): News {
  const ids = [...now.keys()];
  // A failed message of an older page is no news.
  const isNew = (id: string) => before.has(id) || now.get(id) === 'unsent';
  const hasFailed = (id: string) =>
    isFailure(now.get(id)) && !isFailure(before.get(id)) && isNew(id);
  const hasArrived = (id: string) => isSuccess(now.get(id)) && failed.has(id);

  const open = [...failed].filter((id) => !hasArrived(id));
  const stillFailed = new Set([...open, ...ids.filter((id) => isFailure(now.get(id)))]);
  if (ids.some(hasFailed)) return { news: 'failed', failed: stillFailed };
  return { news: ids.some(hasArrived) ? 'sent' : null, failed: stillFailed };
}
