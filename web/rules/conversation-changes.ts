import type { ChatMessage, ChatPage, ChatStreamEvent, Consent } from '#contract/chat-schemas';

/** `messages` are in the order of `seq`, without a gap. */
export type Conversation = {
  revision: number;
  messages: readonly ChatMessage[];
  hasMore: boolean;
  typingUntil: string | null;
  typed: string;
  consent: Consent | null;
  /** The last `seq` at loading; later messages have arrived since. */
  loadedUpTo: number;
};

const notTyping = { typingUntil: null, typed: '' };

export function conversationOf({
  revision,
  messages,
  hasMore,
  typingUntil,
  consent,
}: ChatPage): Conversation {
  return {
    revision,
    messages,
    hasMore,
    typingUntil,
    typed: '',
    consent,
    loadedUpTo: messages.at(-1)?.seq ?? 0,
  };
}

/** ms for which somebody waits for a reply. */
const watchedMs = 10_000;

/** Whether the last reply came late, in a conversation that an earlier visit began. */
export function hasLateReply({ messages, loadedUpTo }: Conversation): boolean {
  const reply = messages.at(-1);
  const asked = messages.findLast(({ author }) => author === 'user');
  if (loadedUpTo === 0 || reply?.author !== 'solace' || !asked) return false;
  return Date.parse(reply.at) - Date.parse(asked.at) > watchedMs;
}

export function awaitsReply({ messages }: Conversation, seq: number): boolean {
  const newest = messages.at(-1);
  return newest !== undefined && newest.seq >= seq && newest.author === 'user';
}

export function withOlderPage(conversation: Conversation, page: ChatPage): Conversation {
  const first = conversation.messages[0]?.seq ?? Number.POSITIVE_INFINITY;
  const older = page.messages.filter(({ seq }) => seq < first);
  return { ...conversation, messages: [...older, ...conversation.messages], hasMore: page.hasMore };
}

/** Takes over the newest page. Older messages stay if the page continues them. */
export function withNewestPage(current: Conversation | undefined, page: ChatPage): Conversation {
  const read = conversationOf(page);
  if (!current) return read;
  if (page.revision < current.revision) return current;

  const { loadedUpTo, typed } = current;
  const known = { ...read, loadedUpTo, typed: page.typingUntil === null ? '' : typed };
  const first = page.messages[0]?.seq;
  if (first === undefined || !page.hasMore) return known;

  const older = current.messages.filter(({ seq }) => seq < first);
  const isContinued = older.at(-1)?.seq === first - 1;
  if (!isContinued) return known;
  return { ...known, messages: [...older, ...page.messages], hasMore: current.hasMore };
}

export function withNewer(read: Conversation, other: Conversation | undefined): Conversation {
  const newest = read.messages.at(-1)?.seq ?? 0;
  const newer = (other?.messages ?? []).filter(({ seq }) => seq > newest);
  return { ...read, messages: [...read.messages, ...newer] };
}

/** Adds or replaces a message. A reply ends the typing. */
export function withMessage(conversation: Conversation, message: ChatMessage): Conversation {
  const others = conversation.messages.filter(
    ({ id, author }) => id !== message.id || author !== message.author,
  );
  const messages = [...others, message].toSorted((a, b) => a.seq - b.seq);
  const isReply = message.author === 'solace';
  return { ...conversation, messages, ...(isReply && notTyping) };
}

/** Applies an event. A repeated or older one changes nothing; the caller handles `reset`. */
export function applyEvent(
  conversation: Conversation,
  event: ChatStreamEvent,
  revision: number | null,
): Conversation {
  if (event.type === 'typing') return { ...conversation, ...typingOf(event) };
  if (revision === null || revision <= conversation.revision || event.type === 'reset')
    return conversation;
  return { ...applyChange(conversation, event), revision };
}

function typingOf({ until, text = '' }: Extract<ChatStreamEvent, { type: 'typing' }>) {
  return until === null ? notTyping : { typingUntil: until, typed: text };
}

const isUnloaded = ({ messages: [first], hasMore }: Conversation, { seq }: ChatMessage) =>
  hasMore && first !== undefined && seq < first.seq;

type Change = Exclude<ChatStreamEvent, { type: 'typing' | 'reset' }>;

function applyChange(conversation: Conversation, event: Change): Conversation {
  if (event.type === 'cleared')
    return { ...conversation, messages: [], hasMore: false, ...notTyping };
  if (event.type === 'message')
    return isUnloaded(conversation, event.message)
      ? conversation
      : withMessage(conversation, event.message);
  const { upTo, state } = event;
  const messages = conversation.messages.map((message) =>
    message.author === 'user' && message.state === 'sent' && message.seq <= upTo
      ? { ...message, state }
      : message,
  );
  return { ...conversation, messages };
}
