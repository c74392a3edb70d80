import type { ChatStreamEvent } from '#contract/chat-schemas';
import { isUsage, readEvent, readOpening } from '../rules/stream-events.ts';
import { connectionState, StreamReader, type StreamName } from './event-stream.ts';
import { isOlderThan, keepStreamProfile, refetchProfile } from './profile-query.ts';
import { session } from './session.ts';

/** The age (ms) up to which a stream without a profile does not fetch it a second time. */
const maxProfileAge = 2000;

/** A page of the conversation, whose stream carries the usage too. */
type ConversationReader = {
  token: string;
  revision: () => number;
  onEvent: (event: ChatStreamEvent, revision: number | null) => void;
};

let open: { token: string; name: StreamName; reader: StreamReader } | null = null;
let conversationReader: ConversationReader | null = null;
let expectsConversation = () => false;

/** One stream of an approved user; a page of the conversation (`isConversation`) opens its own after reading. */
export function followSession(isConversation: () => boolean): void {
  expectsConversation = isConversation;
  session.subscribe(follow);
  document.addEventListener(
    'visibilitychange',
    () => document.visibilityState === 'visible' && retryStream(),
  );
  addEventListener('online', retryStream);
  follow();
}

/** Connects at once if the stream waits for its next attempt or has given up. */
export function retryStream(): void {
  open?.reader.retryNow();
}

/** Makes the stream of the session that of its conversation, until the returned function is called. */
export function followConversation(reader: ConversationReader): () => void {
  conversationReader = reader;
  follow();
  return () => {
    if (conversationReader === reader) conversationReader = null;
    follow();
  };
}

function follow(): void {
  const { token, user } = session.get();
  const wanted = user !== null && user.status !== 'pending' ? token : null;
  const name = conversationReader?.token === wanted ? 'chatStream' : 'usageStream';
  if (open?.token === wanted && open?.name === name) return;
  open?.reader.close();
  open = null;
  if (wanted && (name === 'chatStream' || !expectsConversation()))
    open = { token: wanted, name, reader: openStream(wanted, name) };
}

function openStream(token: string, name: StreamName): StreamReader {
  return new StreamReader({
    token,
    name,
    query: () =>
      name === 'chatStream' ? { after: String(conversationReader?.revision() ?? 0) } : {},
    onOpen(data) {
      const profile = readOpening(data);
      if (profile) keepStreamProfile(token, profile);
      else if (isOlderThan(maxProfileAge, token)) void refetchProfile();
    },
    onMessage(data, id) {
      const event = readEvent(data);
      if (!event) return;
      if (!isUsage(event)) conversationReader?.onEvent(event, /^\d+$/.test(id) ? Number(id) : null);
      else if (event.type === 'usageUpdate') setCount(event.count);
      else void refetchProfile();
    },
  });
}

function setCount(count: number): void {
  session.setMessagesUsed(count);
  connectionState.addCount();
}
