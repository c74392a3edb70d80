import {
  Suspense,
  useCallback,
  useEffect,
  useRef,
  useState,
  useSyncExternalStore,
  type ComponentProps,
} from 'react';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { chatWords } from '#words/chat';
import { drafts } from '../../data/chat-drafts.ts';
import { serverClock } from '../../data/clock.ts';
import { lazyWithFallback } from '../../data/loaded-parts.tsx';
import { voiceStore } from '../../data/voice-store.ts';
import { hasLateReply, type Conversation } from '../../rules/conversation-changes.ts';
import { markAttributes } from '../../start/protocol.ts';
import { Icon } from '../../ui/icons.tsx';
import { Composer } from './composer.tsx';
import {
  useCrisisHelp,
  useIsTyping,
  useReadNotices,
  useUnseenTitle,
  useWholePrint,
} from './conversation-effects.ts';
import { ConnectionStatusLine, TypingIndicator } from './conversation-status.tsx';
import { MessageList } from './message-list.tsx';
import { useScrollPosition } from './scroll-position.ts';
import { SendingAnnouncer } from './sending-announcer.tsx';
import { TypedReply } from './transcript-line.tsx';
import { useSendMessage } from './use-send-message.ts';

const NoticeOffer = lazyWithFallback(() => import('./notice-offer.tsx'));

type Props = { token: string; conversation: Conversation; openHelp: () => void };

export function ConversationView({ token, conversation, openHelp }: Props) {
  const { messages, typingUntil, hasMore } = conversation;
  const pending = usePending(token, conversation);
  const replies = repliesSince(conversation);
  const newest = messages.at(-1)?.seq ?? 0;
  const isTyping = useIsTyping(typingUntil);
  const typed = isTyping ? conversation.typed : '';
  const { reminders, remind } = useReminders();

  const list = useRef<HTMLElement>(null);
  const content = { newest, pending: pending.length, reminders: reminders.length, isTyping, typed };
  const scroll = useScrollPosition(list, content);
  // A button that disappears takes the focus along.
  const focusList = () => list.current?.focus({ preventScroll: true });
  const jumpToEnd = () => {
    scroll.toEnd();
    focusList();
  };
  const { sendAgain, ...sending } = useSendMessage(token, scroll.toEnd);

  useCrisisHelp(token, replies, openHelp);
  useUnseenTitle(replies.length);
  useWholePrint(token, hasMore);
  useReadNotices(newest);

  return (
    <>
      <Scroller
        ref={list}
        onScroll={scroll.onScroll}
      >
        <MessageList
          {...{ token, conversation, pending, sendAgain, openHelp, reminders, remind }}
          keepPosition={scroll.keepPosition}
        />
        {typed && <TypedReply text={typed} />}
        <TypingIndicator isTyping={isTyping} />
      </Scroller>
      <div className={foot}>
        <NewMessages
          count={scroll.unseen}
          show={jumpToEnd}
        />
        <ConnectionStatusLine focusList={focusList} />
        <SendingAnnouncer {...{ messages, pending }} />
        <LateReplyOffer
          token={token}
          conversation={conversation}
        />
        <Composer
          token={token}
          openHelp={openHelp}
          {...sending}
        />
      </div>
    </>
  );
}

function Scroller(props: Pick<ComponentProps<'section'>, 'ref' | 'onScroll' | 'children'>) {
  return (
    <section
      {...props}
      className={scroller}
      {...markAttributes({ slot: 'messages' })}
      // Scrolls by keyboard.
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      aria-label={chatWords.messages}
    />
  );
}

function useReminders() {
  const [reminders, setReminders] = useState<string[]>([]);
  const remind = useCallback(() => setReminders((before) => [...before, serverClock.iso()]), []);
  return { reminders, remind };
}

/** Returns the messages that have not arrived. */
function usePending(token: string, { messages }: Conversation) {
  drafts.open(token);
  // After hydration, since the served field is empty.
  useEffect(() => drafts.restore(token), [token]);
  useEffect(() => {
    drafts.settle(messages);
    voiceStore.settle(messages);
  }, [messages]);
  return useSyncExternalStore(drafts.subscribe, drafts.get, drafts.get).pending;
}

const repliesSince = ({ messages, loadedUpTo }: Conversation) =>
  messages.filter(({ author, seq }) => author === 'solace' && seq > loadedUpTo);

function NewMessages({ count, show }: { count: number; show: () => void }) {
  if (count === 0) return null;
  return (
    <button
      type="button"
      className={`${button({ look: 'soft' })} ${jump}`}
      onClick={show}
    >
      <Icon name="chevron" />
      <span>{chatWords.newMessages(count)}</span>
    </button>
  );
}

type OfferProps = Pick<Props, 'token' | 'conversation'>;

/** It stays while the person goes on writing. */
function LateReplyOffer({ token, conversation }: OfferProps) {
  const [mayOffer, setMayOffer] = useState(false);
  if (!mayOffer && hasLateReply(conversation)) setMayOffer(true);
  return <Suspense>{mayOffer && <NoticeOffer token={token} />}</Suspense>;
}

/** On every screen, so that a turned phone keeps its place. */
const scroller = css({
  flex: '1',
  contain: 'size',
  minHeight: '[6rem]',
  overflowY: 'auto',
  overscrollBehavior: 'contain',
  _print: { contain: 'none', overflowY: 'visible' },
  paddingInline: 'gutter',
  paddingBlock: '4',
  // The page scrolls until the list fills the screen.
  _zoomed: { minHeight: '[70vh]' },
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
  _print: { display: 'none' },
});
const jump = css({
  position: 'absolute',
  insetInline: '0',
  top: '[-3.5rem]',
  width: '[fit-content]',
  marginInline: 'auto',
  boxShadow: 'float',
});
