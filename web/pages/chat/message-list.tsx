import { useState } from 'react';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { conversation as store } from '../../data/conversation.ts';
import { notifyError } from '../../data/error-handler.ts';
import type { PendingMessage } from '../../data/pending-messages.ts';
import type { Conversation } from '../../rules/conversation.ts';
import { shownMessages, type ShownMessage } from '../../rules/shown-messages.ts';
import { transcript, type TranscriptItem } from '../../rules/transcript.ts';
import { chatWords } from '../../words/chat.ts';
import { Message } from './message.tsx';
import { AiNotice, Day } from './separators.tsx';

type Props = {
  token: string;
  conversation: Conversation;
  pending: readonly PendingMessage[];
  sendAgain: (id: string, text: string) => void;
  openHelp: () => void;
  keepPosition: (change: () => Promise<void>) => Promise<void>;
};

/**
 * Loaded messages, then new ones. Only the second list is a live region, so screen readers do not announce the history.
 */
export function MessageList({ token, conversation, pending, sendAgain, openHelp, keepPosition }: Props) {
  const [openedAt] = useState(() => Date.now());
  const shown = shownMessages(conversation.messages, pending);
  const history = shown.filter(({ seq }) => seq !== null && seq <= conversation.loadedUpTo);
  const items = transcript(shown, ({ key }) => key, openedAt);
  const historyKeys = new Set(history.map(({ key }) => key));
  const border = items.findLastIndex((item) => item.kind === 'message' && historyKeys.has(item.key)) + 1;
  const line = (item: TranscriptItem<ShownMessage>) => (
    <Item key={item.key} item={item} sendAgain={sendAgain} openHelp={openHelp} />
  );
  return (
    <>
      {conversation.hasMore && <LoadOlder load={() => keepPosition(() => store.loadOlder(token))} />}
      {shown.length === 0 && <p className={empty}>{chatWords.empty}</p>}
      <ol className={list} aria-label={chatWords.earlier}>
        {items.slice(0, border).map(line)}
      </ol>
      <div role="log" aria-label={chatWords.live} className={css({ marginTop: '3' })}>
        <ol className={list}>{items.slice(border).map(line)}</ol>
      </div>
    </>
  );
}

type ItemProps = { item: TranscriptItem<ShownMessage> } & Pick<Props, 'sendAgain' | 'openHelp'>;

function Item({ item, sendAgain, openHelp }: ItemProps) {
  if (item.kind === 'day') return <Day at={item.at} />;
  if (item.kind === 'notice') return <AiNotice />;
  return <Message message={item.message} sendAgain={sendAgain} openHelp={openHelp} />;
}

function LoadOlder({ load }: { load: () => Promise<void> }) {
  const [isLoading, setLoading] = useState(false);
  const run = async () => {
    if (isLoading) return;
    setLoading(true);
    await load().catch((error: unknown) => notifyError(error, { fallback: chatWords.loadFailed }));
    setLoading(false);
  };
  return (
    <button
      type="button"
      className={`${button({ look: 'outline' })} ${older}`}
      onClick={() => void run()}
      aria-disabled={isLoading}
    >
      {isLoading ? chatWords.loadingOlder : chatWords.loadOlder}
    </button>
  );
}

const list = css({ display: 'flex', flexDirection: 'column', gap: '3' });
const older = css({ display: 'flex', marginInline: 'auto', marginBottom: '4' });
const empty = css({ marginBlock: '6', color: 'muted', textAlign: 'center' });
