import type { ChatStreamEvent } from '#contract/chat-schemas';
import { isUsage, readEvent, readOpening, signInterval } from '../rules/stream-events.ts';
import { requestAs } from './api-client.ts';
import { connectionState, StreamReader, type StreamName } from './event-stream.ts';
import { fetchProfile, keepStreamProfile, refetchProfile } from './profile-query.ts';
import { session } from './session.ts';
import { signsOfLife } from './signs-of-life.ts';

/** A page of the conversation, whose stream carries the usage too. */
type ConversationReader = {
  token: string;
  revision: () => number;
  onEvent: (event: ChatStreamEvent, revision: number | null) => void;
  /** Reads the conversation by a call, because the stream brings nothing. */
  read: () => void;
};

let open: { token: string; name: StreamName; reader: StreamReader } | null = null;
let conversationReader: ConversationReader | null = null;
let expectsConversation = () => false;

/** One stream of an approved user; a page of the conversation (`isConversation`) opens its own after reading. */
export function followSession(isConversation: () => boolean): void {
  expectsConversation = isConversation;
  session.subscribe(follow);
  document.addEventListener('visibilitychange', () => isVisible() && retryStream());
  addEventListener('pageshow', retryStream);
  addEventListener('online', retryStream);
  signsOfLife.subscribe(() => open?.reader.noteLife());
  lookForLife();
  follow();
}

const isVisible = () => document.visibilityState === 'visible';

/** Begins a new series of attempts at once, unless the stream is known to be alive. */
export function retryStream(): void {
  open?.reader.wake();
}

/** While the stream of a visible page has ended, a call looks about once a minute whether the server responds again. */
function lookForLife(): void {
  setTimeout(() => {
    if (isVisible() && connectionState.get().status === 'lost') void askForLife();
    lookForLife();
  }, signInterval(Math.random()));
}

/** Makes one call, without a second try. Its success begins a new series, unless another page has replaced the stream. */
async function askForLife(): Promise<void> {
  if (!open) return;
  const response = await requestAs(open.token, 'getMe').catch(() => null);
  if (response && connectionState.get().status === 'lost') readByCall();
}

/** Reads what the stream would have brought. */
function readByCall(): void {
  if (open?.name === 'chatStream') conversationReader?.read();
  else if (open) void fetchProfile({ inBackground: true });
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
      else void refetchProfile();
    },
    onMessage(data, id) {
      const event = readEvent(data);
      if (!event) return;
      if (!isUsage(event)) conversationReader?.onEvent(event, /^\d+$/.test(id) ? Number(id) : null);
      else if (event.type === 'usageUpdate') setCount(event.count);
      else void refetchProfile();
    },
    onSilence: readByCall,
  });
}

function setCount(count: number): void {
  session.setMessagesUsed(count);
  connectionState.addCount();
}
