import type { ShownMessage } from './shown-messages.ts';
import { transcript, type TranscriptItem } from './transcript.ts';

type TranscriptParts = Record<'history' | 'live', TranscriptItem<ShownMessage>[]>;

/** The messages up to a `seq`, and what has been added since the page was opened at `openedAt`. */
export function transcriptParts(
  messages: readonly ShownMessage[],
  loadedUpTo: number,
  openedAt: number,
): TranscriptParts {
  const items = transcript(messages, ({ key }) => key, openedAt);
  const isLoaded = (item: TranscriptItem<ShownMessage>) =>
    item.kind === 'message' && item.message.seq !== null && item.message.seq <= loadedUpTo;
  const border = items.findLastIndex(isLoaded) + 1;
  return { history: items.slice(0, border), live: items.slice(border) };
}
