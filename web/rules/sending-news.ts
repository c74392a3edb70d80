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

/** For whoever does not see the list. */
export function sendingNews(
  before: SendingStates,
  now: SendingStates,
  failed: Set<string>,
): 'failed' | 'sent' | null {
  const ids = [...now.keys()];
  // A failed message of an older page is no news.
  const isNew = (id: string) => before.has(id) || now.get(id) === 'unsent';
  const newlyFailed = ids.filter(
    (id) => isFailure(now.get(id)) && !isFailure(before.get(id)) && isNew(id),
  );
  const arrived = ids.filter((id) => isSuccess(now.get(id)) && failed.has(id));
  for (const id of arrived) failed.delete(id);
  for (const id of ids) if (isFailure(now.get(id))) failed.add(id);
  if (newlyFailed.length > 0) return 'failed';
  return arrived.length > 0 ? 'sent' : null;
}
