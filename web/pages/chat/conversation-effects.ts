import { useEffect, useRef, useState } from 'react';
import { longestTypingSeconds } from '#contract/chat-limits';
import { chatWords } from '#words/chat';
import { openAfterLoading } from '../../data/error-toasts.ts';
import { serverClock } from '../../data/clock.ts';
import { closeShownNotices } from '../../data/shown-notices.ts';
import { aiNoticeIntervalMs } from '../../rules/transcript.ts';

const loadPrint = () => import('./print-conversation.ts');

type Reply = { id: string; crisis?: true | undefined };

/** Outlives the page, so that help opens once for each crisis message. */
const seenCrises = new Set<string>();

export function useCrisisHelp(token: string, replies: Reply[], openHelp: () => void): void {
  useEffect(() => {
    const crises = replies.filter(({ crisis }) => crisis).map(({ id }) => `${token} ${id}`);
    const unseen = crises.filter((key) => !seenCrises.has(key));
    for (const key of unseen) seenCrises.add(key);
    if (unseen.length > 0) openHelp();
  }, [token, replies, openHelp]);
}

export function useIsTyping(until: string | null): boolean {
  const [ended, setEnded] = useState<string | null>(null);
  useEffect(() => {
    if (until === null) return undefined;
    const timer = setTimeout(
      () => setEnded(until),
      serverClock.until(until, 1000 * longestTypingSeconds),
    );
    return () => clearTimeout(timer);
  }, [until]);
  return until !== null && ended !== until;
}

/** Calls `remind` after three visible hours since `noticeAt`. Null: nobody has written since the last notice. */
export function useReminder(noticeAt: string | null, remind: () => void): void {
  useEffect(() => {
    if (noticeAt === null) return undefined;

    let left = Date.parse(noticeAt) + aiNoticeIntervalMs - serverClock.now();
    let visibleSince: number | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;

    const follow = () => {
      clearTimeout(timer);
      if (visibleSince !== null) left -= performance.now() - visibleSince;
      visibleSince = document.hidden ? null : performance.now();
      if (visibleSince !== null) timer = setTimeout(remind, Math.max(0, left));
    };

    follow();
    document.addEventListener('visibilitychange', follow);

    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', follow);
    };
  }, [noticeAt, remind]);
}

/** Loads the whole conversation for Ctrl+P, which would print the loaded messages alone. */
export function useWholePrint(token: string, hasMore: boolean): void {
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

export function useReadNotices(newest: number): void {
  useEffect(() => {
    const closeRead = () => {
      if (newest > 0 && !document.hidden) void closeShownNotices();
    };
    closeRead();
    document.addEventListener('visibilitychange', closeRead);
    return () => document.removeEventListener('visibilitychange', closeRead);
  }, [newest]);
}

export function useUnseenTitle(replies: number): void {
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
