import type { ChatStreamEvent } from '../contract/chat.ts';
import { fromBase64 } from '../lib/crypto.ts';
import { isoDate } from '../lib/time.ts';
import type { ConversationChange } from '../live/changes.ts';
import type { ConversationEvents } from '../live/live-stream.ts';
import { openMessage, type KeyOfEpoch } from './chat-encryption.ts';

/** Decrypts the changes that the live object sends to a reader, as the events of the contract. */
export function conversationEvents(userId: string, keyOf: KeyOfEpoch): ConversationEvents {
  return async (change) => {
    if (change.kind === 'message') return messageFrame(change);
    if (change.kind === 'state')
      return frame({ type: 'state', upTo: change.upTo, state: change.state }, change.revision);
    if (change.kind === 'cleared') return frame({ type: 'cleared' }, change.revision);
    if (change.kind === 'typing') return frame({ type: 'typing', until: isoDate(change.until) });
    const reset = change.reset ? frame({ type: 'reset' }, change.revision) : '';
    return change.typingUntil ? reset + frame({ type: 'typing', until: isoDate(change.typingUntil) }) : reset;
  };

  async function messageFrame(change: Extract<ConversationChange, { kind: 'message' }>): Promise<string | null> {
    const key = await keyOf(change.epoch);
    if (!key) return null;
    const stored = { ...change.message, sealed: fromBase64(change.message.sealed).buffer };
    return frame({ type: 'message', message: await openMessage(key, userId, stored) }, change.revision);
  }
}

function frame(event: ChatStreamEvent, revision?: number): string {
  const id = revision === undefined ? '' : `id: ${revision}\n`;
  return `${id}data: ${JSON.stringify(event)}\n\n`;
}
