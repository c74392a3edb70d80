import type { ChatMessage, ChatStreamEvent } from '../contract/chat-schemas.ts';
import { fromBase64 } from '../lib/crypto.ts';
import { isoDate } from '../lib/time.ts';
import type { ConversationChange, Typing } from '../live/live-changes.ts';
import type { ConversationEvents } from '../live/live-stream.ts';
import type { StoredMessage } from '../live/message-table.ts';
import { openMessage, openPartialReply, type KeyOfEpoch } from './chat-encryption.ts';

type OnMessage = (conversation: { key: CryptoKey; epoch: number }, read: Read) => void;
type Read = { stored: StoredMessage; message: ChatMessage };

export function conversationEvents(userId: string, keyOf: KeyOfEpoch, onMessage: OnMessage): ConversationEvents {
  return async (change) => {
    if (change.kind === 'message') return messageFrame(change);
    if (change.kind === 'state')
      return frame({ type: 'state', upTo: change.upTo, state: change.state }, change.revision);
    if (change.kind === 'cleared') return frame({ type: 'cleared' }, change.revision);
    if (change.kind === 'typing') return typingFrame(change);
    const reset = change.reset ? frame({ type: 'reset' }, change.revision) : '';
    return change.typing ? reset + (await typingFrame(change.typing)) : reset;
  };

  async function messageFrame(change: Extract<ConversationChange, { kind: 'message' }>): Promise<string | null> {
    const key = await keyOf(change.epoch);
    if (!key) return null;
    const stored = { ...change.message, sealed: fromBase64(change.message.sealed) };
    const message = await openMessage(key, userId, stored);
    onMessage({ key, epoch: change.epoch }, { stored, message });
    return frame({ type: 'message', message }, change.revision);
  }

  async function typingFrame({ until, epoch, sealed }: Typing): Promise<string> {
    const key = sealed ? await keyOf(epoch) : null;
    const text = key && sealed ? await openPartialReply(key, userId, fromBase64(sealed)) : null;
    return frame({ type: 'typing', until: isoDate(until), ...(text !== null && { text }) });
  }
}

function frame(event: ChatStreamEvent, revision?: number): string {
  const id = revision === undefined ? '' : `id: ${revision}\n`;
  return `${id}data: ${JSON.stringify(event)}\n\n`;
}
