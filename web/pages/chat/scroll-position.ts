import { useHydrated } from '@tanstack/react-router';
import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from 'react';
import { isNearEnd } from '../../rules/chat-input.ts';

/** `newest` is the last `seq`. */
type Content = {
  newest: number;
  pending: number;
  reminders: number;
  isTyping: boolean;
  typed: string;
};

type List = RefObject<HTMLElement | null>;

/** A growing reply moves the list until its first line is at the top. */
export function useScrollPosition(ref: List, content: Content) {
  const { newest } = content;
  const isHydrated = useHydrated();
  const [wasServed] = useState(!isHydrated);
  // `placedAt`: scrolled to by this hook; 0 for a reader further up.
  const reader = useRef({ isAtEnd: true, seen: newest, placedAt: 0, readsTyped: false, shown: '' });
  const place = useRef<ScrollPlace>({ size: '', line: null, share: 0 });
  const [unseen, setUnseen] = useState(0);

  const toEnd = useCallback(() => {
    if (ref.current) ref.current.scrollTop = ref.current.scrollHeight;
    reader.current.isAtEnd = true;
    setUnseen(0);
  }, [ref]);

  useLayoutEffect(() => {
    const list = ref.current;
    if (!list) return undefined;
    // A reader may have scrolled the served list.
    if (wasServed) reader.current.isAtEnd = isNearEnd(list);
    if (wasServed) place.current = placeIn(list);
    // The router must not restore an earlier visit's position.
    list.setAttribute('data-scroll-restoration-id', crypto.randomUUID());
    // The keyboard, a growing field and a turned phone change it.
    const observer = new ResizeObserver(() => {
      if (reader.current.isAtEnd) toEnd();
      else scrollToPlace(list, place.current);
      place.current.size = sizeOf(list);
    });
    observer.observe(list);
    return () => observer.disconnect();
  }, [ref, wasServed, toEnd]);

  const shown = Object.values(content).join(' ');
  useLayoutEffect(() => {
    const list = ref.current;
    if (!list || reader.current.shown === shown) return;
    reader.current.shown = shown;
    // The reader's scroll event may still be on its way.
    if (list.scrollTop < reader.current.placedAt - 1 && !isNearEnd(list))
      reader.current.isAtEnd = false;
    if (isSelecting(list)) reader.current.isAtEnd = false;
    const typed = list.querySelector('[data-slot=typed]');
    // The message replaces what was read as it grew.
    const wasRead = reader.current.readsTyped && typed === null;
    if (wasRead || reader.current.isAtEnd) reader.current.seen = newest;
    setUnseen(Math.max(0, newest - reader.current.seen));
    if (reader.current.isAtEnd) scrollTo(list, wasRead ? lastReply(list) : typed);
    reader.current.placedAt = reader.current.isAtEnd ? list.scrollTop : 0;
    reader.current.readsTyped = typed !== null && topIn(list, typed) < list.clientHeight;
  }, [ref, newest, shown]);

  const onScroll = () => {
    const list = ref.current;
    // A list of another size has lost the reader's place.
    if (!list || sizeOf(list) !== place.current.size) return;
    place.current = placeIn(list);
    reader.current.isAtEnd = isNearEnd(list);
    if (!reader.current.isAtEnd) return;
    reader.current.seen = newest;
    setUnseen(0);
  };

  const keepPosition = async (change: () => Promise<void>) => {
    const list = ref.current;
    if (!list) return change();
    reader.current.isAtEnd = false;
    const fromEnd = list.scrollHeight - list.scrollTop;
    await change();
    requestAnimationFrame(() => {
      list.scrollTop = list.scrollHeight - fromEnd;
      if (document.activeElement === document.body) list.focus({ preventScroll: true });
    });
  };

  return { unseen, onScroll, toEnd, keepPosition };
}

/** At the first visible line, of which a share is above the edge. */
type ScrollPlace = { size: string; line: Element | null; share: number };

function placeIn(list: HTMLElement): ScrollPlace {
  const lines = [...list.querySelectorAll('li')];
  const line = lines.find((one) => topIn(list, one) + one.clientHeight > 0) ?? null;
  const share = line ? -topIn(list, line) / line.clientHeight : 0;
  return { size: sizeOf(list), line, share };
}

/** Another width changes the height of every line. */
function scrollToPlace(list: HTMLElement, { line, share }: ScrollPlace): void {
  if (line?.isConnected) list.scrollTop += topIn(list, line) + share * line.clientHeight;
}

const sizeOf = ({ clientWidth, clientHeight }: Element) => `${clientWidth} ${clientHeight}`;

/** What somebody selects must not move. */
function isSelecting(list: HTMLElement): boolean {
  const { anchorNode = null, isCollapsed = true } = getSelection() ?? {};
  return !isCollapsed && list.contains(anchorNode);
}

const lastReply = (list: HTMLElement) =>
  [...list.querySelectorAll('[data-slot=live] > [data-author=solace]')].at(-1);

/** px above the first line of a growing reply. */
const spaceAbove = 16;

/** No further than to the start of an element. */
function scrollTo(list: HTMLElement, start: Element | null | undefined): void {
  if (!start) list.scrollTop = list.scrollHeight;
  else list.scrollTop += Math.max(0, topIn(list, start) - spaceAbove);
}

const topIn = (list: HTMLElement, element: Element) =>
  element.getBoundingClientRect().top - list.getBoundingClientRect().top;
