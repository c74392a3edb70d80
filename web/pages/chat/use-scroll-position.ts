import { useCallback, useLayoutEffect, useRef, useState, type RefObject } from 'react';

/** Pixels from the end within which the reader counts as being at the end. */
const nearEnd = 80;

/**
 * Stays at the end while the reader is there; counts messages as unseen while the reader is further up.
 * `newest` is the last message's `seq`.
 */
export function useScrollPosition(
  ref: RefObject<HTMLElement | null>,
  newest: number,
  pending: number,
  isTyping: boolean,
) {
  const isAtEnd = useRef(true);
  /** The distance from the end, to keep while older messages are put before. */
  const kept = useRef<number | null>(null);
  const seen = useRef(newest);
  const [unseen, setUnseen] = useState(0);

  const toEnd = useCallback(() => {
    const list = ref.current;
    if (list) list.scrollTop = list.scrollHeight;
    isAtEnd.current = true;
    setUnseen(0);
  }, [ref]);

  /** Whatever makes the list longer changes this value. */
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
    // The on-screen keyboard and a growing field make the list smaller.
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

  /** Runs a change that puts messages before the others; the reader sees the same messages afterwards. */
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
