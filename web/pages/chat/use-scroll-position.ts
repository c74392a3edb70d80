import { useCallback, useLayoutEffect, useRef, useState, type RefObject } from 'react';
import { shownChat } from '../../data/early-start.ts';

/** The distance (px) from the end that still counts as the end. */
const nearEnd = 80;

/**
 * Keeps the list at its end while the reader is there; counts messages as unseen while the reader is further up.
 * `newest` is the last message's `seq`.
 */
export function useScrollPosition(
  ref: RefObject<HTMLElement | null>,
  newest: number,
  pending: number,
  isTyping: boolean,
) {
  const isAtEnd = useRef(true);
  /** The distance from the end, to restore after older messages are added. */
  const kept = useRef<number | null>(null);
  const seen = useRef(newest);
  const [unseen, setUnseen] = useState(0);

  const toEnd = useCallback(() => {
    const list = ref.current;
    if (list) list.scrollTop = list.scrollHeight;
    isAtEnd.current = true;
    setUnseen(0);
  }, [ref]);

  // A reader may have scrolled up in the frame that React takes over.
  useLayoutEffect(() => {
    if (ref.current && shownChat()) isAtEnd.current = distance(ref.current) < nearEnd;
  }, [ref]);

  /** Changes whenever the list gets longer. */
  const content = `${newest} ${pending} ${isTyping}`;
  useLayoutEffect(() => {
    if (content && isAtEnd.current) {
      seen.current = newest;
      toEnd();
    } else setUnseen(Math.max(0, newest - seen.current));
  }, [newest, content, toEnd]);

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
    isAtEnd.current = distance(list) < nearEnd;
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
      kept.current = null;
    });
  };

  return { unseen, onScroll, toEnd, keepPosition };
}

const distance = (list: HTMLElement) => list.scrollHeight - list.scrollTop - list.clientHeight;
