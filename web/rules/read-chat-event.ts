import type { ChatStreamEvent } from '#contract/chat';

const types: ReadonlySet<unknown> = new Set<ChatStreamEvent['type']>([
  'message',
  'state',
  'cleared',
  'reset',
  'typing',
]);

/** The event of a stream's data; null for data that is no event of the conversation. */
export function readChatEvent(data: string): ChatStreamEvent | null {
  try {
    const event: unknown = JSON.parse(data);
    return isEvent(event) ? event : null;
  } catch {
    return null;
  }
}

function isEvent(value: unknown): value is ChatStreamEvent {
  return typeof value === 'object' && value !== null && 'type' in value && types.has(value.type);
}
