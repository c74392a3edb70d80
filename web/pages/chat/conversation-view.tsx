import { useEffect, useRef, useSyncExternalStore } from 'react';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { drafts } from '../../data/pending-messages.ts';
import type { Conversation } from '../../rules/conversation.ts';
import { Icon } from '../../ui/icon.tsx';
import { chatWords } from '../../words/chat.ts';
import { Composer } from './composer.tsx';
import { MessageList } from './message-list.tsx';
import { TypingIndicator } from './typing-indicator.tsx';
import { useScrollPosition } from './use-scroll-position.ts';
import { useSendMessage } from './use-send-message.ts';
import { useUnseenTitle } from './use-unseen-title.ts';

type Props = { token: string; conversation: Conversation; isLive: boolean; openHelp: () => void };

/** Messages, typing indicator and message field. */
export function ConversationView({ token, conversation, isLive, openHelp }: Props) {
  drafts.open(token);
  const { pending } = useSyncExternalStore(drafts.subscribe, drafts.get, drafts.get);
  const replies = conversation.messages.filter(
    ({ author, seq }) => author === 'solace' && seq > conversation.loadedUpTo,
  );
  const newest = conversation.messages.at(-1)?.seq ?? 0;
  const list = useRef<HTMLElement>(null);
  const scroll = useScrollPosition(list, newest, pending.length, conversation.typingUntil !== null);
  const sending = useSendMessage(token, scroll.toEnd);
  useCrisisHelp(replies, openHelp);
  useUnseenTitle(replies.length);

  return (
    <>
      <section
        ref={list}
        className={scroller}
        data-slot="messages"
        onScroll={scroll.onScroll}
        // So that it can be scrolled with the keyboard.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        aria-label={chatWords.messages}
      >
        <MessageList
          token={token}
          conversation={conversation}
          pending={pending}
          sendAgain={sending.sendAgain}
          openHelp={openHelp}
          keepPosition={scroll.keepPosition}
        />
        <TypingIndicator until={conversation.typingUntil} />
      </section>
      <div className={foot}>
        {scroll.unseen > 0 && (
          <button type="button" className={`${button({ look: 'soft' })} ${jump}`} onClick={() => scroll.toEnd()}>
            <Icon name="chevron" />
            {chatWords.newMessages(scroll.unseen)}
          </button>
        )}
        <output className={css({ textStyle: 'small', color: 'muted', _empty: { display: 'none' } })}>
          {isLive ? '' : navigator.onLine ? chatWords.reconnecting : chatWords.offline}
        </output>
        <Composer send={sending.send} error={sending.error} clearError={sending.clearError} openHelp={openHelp} />
      </div>
    </>
  );
}

/** Opens the help panel once when a reply marked as a crisis arrives. */
function useCrisisHelp(replies: { id: string; crisis?: true | undefined }[], openHelp: () => void): void {
  const seen = useRef(new Set<string>());
  useEffect(() => {
    const unseen = replies.filter(({ id, crisis }) => crisis && !seen.current.has(id));
    for (const { id } of unseen) seen.current.add(id);
    if (unseen.length > 0) openHelp();
  }, [replies, openHelp]);
}

const scroller = css({
  flex: '1',
  minHeight: '[0]',
  overflowY: 'auto',
  overscrollBehavior: 'contain',
  paddingInline: 'gutter',
  paddingBlock: '4',
  '@media (max-height: 26rem)': { overflowY: 'visible' },
});
const foot = css({
  position: 'relative',
  display: 'grid',
  gap: '2',
  paddingInline: 'gutter',
  paddingBlock: '3',
  borderTopWidth: 'thin',
  borderColor: 'line',
  backgroundColor: 'paper',
});
const jump = css({
  position: 'absolute',
  insetInlineStart: '[50%]',
  top: '[-3.5rem]',
  transform: 'translateX(-50%)',
  boxShadow: 'float',
});
