import {
  lazy,
  Suspense,
  useEffect,
  useRef,
  useSyncExternalStore,
  useState,
  useCallback,
  useLayoutEffect,
  type RefObject,
} from 'react';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { useConnection } from '../../data/chat-conversation.ts';
import { drafts } from '../../data/chat-drafts.ts';
import { openAfterLoading } from '../../data/api-errors.ts';
import { closeShownNotices } from '../../data/shown-notices.ts';
import { serverClock } from '../../data/clock.ts';
import { voiceStore } from '../../data/voice-store.ts';
import { retryStream } from '../../data/session-stream.ts';
import { hasLateReply, type Conversation } from '../../rules/conversation-changes.ts';
import { Icon } from '../../ui/icons.tsx';
import { chatWords } from '#words/chat';
import { Composer } from './composer.tsx';
import { SendingAnnouncer } from './sending-announcer.tsx';
import { useSendMessage } from './use-send-message.ts';
import { MessageList } from './message-list.tsx';
import { TypedReply } from './transcript-line.tsx';
import { useSession } from '../../data/session.ts';
import { layoutWords } from '#words/layout';
import { shownChat } from '../../data/early-start.ts';
import { isNearEnd } from '../../rules/browser-input.ts';

const loadPrint = () => import('./print-conversation.ts');
const NoticeOffer = lazy(() => import('./notice-offer.tsx').catch(() => ({ default: () => null })));

type Props = { token: string; conversation: Conversation; openHelp: () => void };

export function ConversationView({ token, conversation, openHelp }: Props) {
  drafts.open(token);
  // After hydration, since the prerendered field is empty.
  useEffect(() => drafts.restore(token), [token]);
  const { pending } = useSyncExternalStore(drafts.subscribe, drafts.get, drafts.get);
  const replies = conversation.messages.filter(
    ({ author, seq }) => author === 'solace' && seq > conversation.loadedUpTo,
  );
  const newest = conversation.messages.at(-1)?.seq ?? 0;
  useEffect(() => {
    drafts.settle(conversation.messages);
    voiceStore.settle(conversation.messages);
  }, [conversation.messages]);
  const list = useRef<HTMLElement>(null);
  const isTyping = useIsBefore(conversation.typingUntil);
  const typed = isTyping ? conversation.typed : '';
  const [reminders, setReminders] = useState<string[]>([]);
  const remind = useCallback(() => setReminders((before) => [...before, serverClock.iso()]), []);
  const content = { newest, pending: pending.length, reminders: reminders.length, isTyping, typed };
  const scroll = useScrollPosition(list, content);
  // A button that disappears once it is pressed would take the focus with it.
  const focusList = () => list.current?.focus({ preventScroll: true });
  const jumpToEnd = () => {
    scroll.toEnd();
    focusList();
  };
  const sending = useSendMessage(token, scroll.toEnd);
  useCrisisHelp(token, replies, openHelp);
  // The offer stays while the person goes on writing.
  const [mayOffer, setMayOffer] = useState(false);
  if (!mayOffer && hasLateReply(conversation)) setMayOffer(true);
  useUnseenTitle(replies.length);
  useWholePrint(token, conversation.hasMore);
  useReadNotices(newest);

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
          reminders={reminders}
          remind={remind}
        />
        {typed && <TypedReply text={typed} />}
        <TypingIndicator isTyping={isTyping} />
      </section>
      <div className={foot}>
        {scroll.unseen > 0 && (
          <button
            type="button"
            className={`${button({ look: 'soft' })} ${jump}`}
            onClick={jumpToEnd}
          >
            <Icon name="chevron" />
            <span>{chatWords.newMessages(scroll.unseen)}</span>
          </button>
        )}
        <ConnectionState focusList={focusList} />
        <SendingAnnouncer messages={conversation.messages} pending={pending} />
        <Suspense>{mayOffer && <NoticeOffer token={token} />}</Suspense>
        <Composer
          token={token}
          send={sending.send}
          error={sending.error}
          showError={sending.showError}
          openHelp={openHelp}
        />
      </div>
    </>
  );
}

function ConnectionState({ focusList }: { focusList: () => void }) {
  const status = useConnection();
  const isBroken = status === 'reconnecting' || status === 'lost';
  const connectAgain = () => {
    focusList();
    retryStream();
  };
  return (
    <>
      <output className={css({ textStyle: 'small', color: 'muted', _empty: { display: 'none' } })}>
        {isBroken && (navigator.onLine ? brokenWords[status] : chatWords.offline)}
      </output>
      {status === 'lost' && (
        <button
          type="button"
          className={`${button({ look: 'outline' })} ${connect}`}
          onClick={connectAgain}
        >
          {chatWords.connect}
        </button>
      )}
    </>
  );
}

const brokenWords = { reconnecting: chatWords.reconnecting, lost: chatWords.disconnected };
const connect = css({ justifySelf: 'start' });

type Reply = { id: string; crisis?: true | undefined };

/** The replies that have opened the help panel, also while another page is shown. */
const seenCrises = new Set<string>();

/** Opens the help panel once when a reply marked as a crisis arrives. */
function useCrisisHelp(token: string, replies: Reply[], openHelp: () => void): void {
  useEffect(() => {
    const crises = replies.filter(({ crisis }) => crisis).map(({ id }) => `${token} ${id}`);
    const unseen = crises.filter((key) => !seenCrises.has(key));
    for (const key of unseen) seenCrises.add(key);
    if (unseen.length > 0) openHelp();
  }, [token, replies, openHelp]);
}

const scroller = css({
  flex: '1',
  minHeight: '[0]',
  overflowY: 'auto',
  overscrollBehavior: 'contain',
  _print: { overflowY: 'visible' },
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

function TypingIndicator({ isTyping }: { isTyping: boolean }) {
  const isStarting = useSession(({ isInitializing }) => isInitializing);
  return (
    <output className={line} data-slot="start">
      {isStarting && <span>{layoutWords.loadingApplication}</span>}
      {isTyping && !isStarting && (
        <>
          <span>{chatWords.writing}</span>
          <span className={dots} aria-hidden="true">
            <i />
            <i />
            <i />
          </span>
        </>
      )}
    </output>
  );
}

/** So long (ms) somebody is shown as typing at most, as the contract has it. */
const longestTypingMs = 30_000;

function useIsBefore(until: string | null): boolean {
  const [ended, setEnded] = useState<string | null>(null);
  useEffect(() => {
    if (until === null) return undefined;
    const timer = setTimeout(() => setEnded(until), serverClock.until(until, longestTypingMs));
    return () => clearTimeout(timer);
  }, [until]);
  return until !== null && ended !== until;
}

const line = css({
  display: 'flex',
  alignItems: 'center',
  gap: '2',
  minHeight: '[2rem]',
  marginTop: '3',
  textStyle: 'small',
  color: 'muted',
});
const dots = css({
  display: 'inline-flex',
  gap: '1',
  '& i': {
    width: '[0.375rem]',
    height: '[0.375rem]',
    borderRadius: 'full',
    backgroundColor: 'edge',
    _forced: { backgroundColor: '[CanvasText]' },
    _calm: { animation: '[breathe 1.2s infinite alternate]' },
  },
  '& i:nth-child(2)': { animationDelay: '[200ms]' },
  '& i:nth-child(3)': { animationDelay: '[400ms]' },
});

type Content = {
  newest: number;
  pending: number;
  reminders: number;
  isTyping: boolean;
  typed: string;
};

/** Keeps the list at its end while the reader is there; a growing reply moves it until its first line is at the top. */
function useScrollPosition(
  ref: RefObject<HTMLElement | null>,
  { newest, pending, reminders, isTyping, typed }: Content,
) {
  // A reader may have scrolled up in the frame that React takes over.
  const isAtEnd = useRef(shownChat()?.isAtEnd ?? true);
  /** The distance from the end, to restore after older messages are added. */
  const kept = useRef<number | null>(null);
  const seen = useRef(shownChat()?.page.messages.at(-1)?.seq ?? newest);
  const isReadingTyped = useRef(false);
  /** Where this hook has scrolled to; 0 while the reader is further up. */
  const placedAt = useRef(0);
  const [unseen, setUnseen] = useState(0);

  const toEnd = useCallback(() => {
    const list = ref.current;
    if (list) list.scrollTop = list.scrollHeight;
    isAtEnd.current = true;
    setUnseen(0);
  }, [ref]);

  useLayoutEffect(() => {
    // A position of an earlier visit would hide what has come since, so the router finds no list of that name.
    ref.current?.setAttribute('data-scroll-restoration-id', crypto.randomUUID());
  }, [ref]);

  const content = `${newest} ${pending} ${reminders} ${isTyping} ${typed}`;
  useLayoutEffect(() => {
    const list = ref.current;
    // The scroll event of the reader may still be on its way.
    if (list && list.scrollTop < placedAt.current - 1 && !isNearEnd(list)) isAtEnd.current = false;
    const bubble = list?.querySelector('[data-slot=typed]');
    const isRead = isReadingTyped.current && !bubble;
    // The message replaces what was read as it grew.
    if (isRead) seen.current = newest;
    if (!content || !isAtEnd.current) setUnseen(Math.max(0, newest - seen.current));
    else {
      seen.current = newest;
      const replies = list?.querySelectorAll('[data-slot=live] > [data-author=solace]');
      const start = isRead ? [...(replies ?? [])].at(-1) : bubble;
      if (list && start) toStart(list, start);
      else toEnd();
    }
    placedAt.current = isAtEnd.current && list ? list.scrollTop : 0;
    isReadingTyped.current = Boolean(list && bubble && topIn(list, bubble) < list.clientHeight);
  }, [ref, newest, content, toEnd]);

  useLayoutEffect(() => {
    const list = ref.current;
    if (!list) return undefined;
    // The on-screen keyboard and a growing field shrink the list.
    const observer = new ResizeObserver(() => isAtEnd.current && toEnd());
    observer.observe(list);
    return () => observer.disconnect();
  }, [ref, toEnd]);

  const onScroll = () => {
    const list = ref.current;
    if (!list) return;
    isAtEnd.current = isNearEnd(list);
    if (!isAtEnd.current) return;
    seen.current = newest;
    setUnseen(0);
  };

  /** Runs a change that adds older messages; the reader sees the same messages afterwards. */
  const keepPosition = async (change: () => Promise<void>) => {
    const list = ref.current;
    if (!list) return change();
    isAtEnd.current = false;
    kept.current = list.scrollHeight - list.scrollTop;
    await change();
    requestAnimationFrame(() => {
      list.scrollTop = list.scrollHeight - (kept.current ?? 0);
      if (document.activeElement === document.body) list.focus({ preventScroll: true });
      kept.current = null;
    });
  };

  return { unseen, onScroll, toEnd, keepPosition };
}

/** Scrolls to the end, but no further than to the start of an element. */
function toStart(list: HTMLElement, element: Element): void {
  list.scrollTop += Math.max(0, topIn(list, element) - spaceAbove);
}

/** The space (px) above the first line of a reply that is read as it grows. */
const spaceAbove = 16;

const topIn = (list: HTMLElement, element: Element) =>
  element.getBoundingClientRect().top - list.getBoundingClientRect().top;

/** The keys that print would print the loaded messages alone. */
function useWholePrint(token: string, hasMore: boolean): void {
  useEffect(() => {
    const printAll = (event: KeyboardEvent) => {
      if (!hasMore || !(event.ctrlKey || event.metaKey) || event.key !== 'p') return;
      event.preventDefault();
      openAfterLoading(loadPrint, (file) => void file.printConversation(token));
    };
    addEventListener('keydown', printAll);
    return () => removeEventListener('keydown', printAll);
  }, [token, hasMore]);
}

/** A notice of a reply goes when somebody sees the newest message. */
function useReadNotices(newest: number): void {
  useEffect(() => {
    const closeRead = () => {
      if (newest > 0 && !document.hidden) void closeShownNotices();
    };
    closeRead();
    document.addEventListener('visibilitychange', closeRead);
    return () => document.removeEventListener('visibilitychange', closeRead);
  }, [newest]);
}

/** Counts replies in the document's title while the tab is hidden. There is no sound. */
function useUnseenTitle(replies: number): void {
  const seen = useRef(replies);
  useEffect(() => {
    const title = document.title.replace(/^\(\d+\) /, '');
    const show = () => {
      if (!document.hidden) seen.current = replies;
      const unseen = replies - seen.current;
      document.title = unseen > 0 ? chatWords.documentTitle({ count: unseen, title }) : title;
    };
    show();
    document.addEventListener('visibilitychange', show);
    return () => {
      document.removeEventListener('visibilitychange', show);
      document.title = title;
    };
  }, [replies]);
}
