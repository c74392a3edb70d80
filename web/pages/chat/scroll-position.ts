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

type Reader = {
  isAtEnd: boolean;
  /** The last `seq` that the person has seen. */
  seen: number;
  /** Where this hook scrolled to; 0 for a person further up. */
  placedAt: number;
  readsTyped: boolean;
  /** The content of the last run, as one text. */
  shown: string;
};

const newReader = (seen: number): Reader => ({
  isAtEnd: true,
  seen,
  placedAt: 0,
  readsTyped: false,
  shown: '',
});

/** A growing reply moves the list until its first line is at the top. */
export function useScrollPosition(ref: List, content: Content) {
  const { newest } = content;
  const readerRef = useRef(newReader(newest));
  const placeRef = useRef<ScrollPlace>({ width: 0, height: 0, line: null, share: 0 });
  const [unseen, setUnseen] = useState(0);

  const toEnd = useCallback(() => {
    const [list, reader] = [ref.current, readerRef.current];
    if (list) {
      list.scrollTop = list.scrollHeight;
      reader.placedAt = list.scrollTop;
    }
    reader.isAtEnd = true;
    setUnseen(0);
  }, [ref]);

  useSizeChanges({ ref, readerRef, placeRef, toEnd });
  useNewContent({ ref, readerRef, content, setUnseen });

  const onScroll = () => {
    const list = ref.current;
    // A list of another size has lost the reader's place.
    if (!list || !isOfSize(list, placeRef.current)) return;

    placeRef.current = placeIn(list);
    readerRef.current.isAtEnd = isNearEnd(list);
    if (!readerRef.current.isAtEnd) return;

    readerRef.current.seen = newest;
    setUnseen(0);
  };

  const keepPosition = async (change: () => Promise<void>) => {
    if (!ref.current) return change();
    readerRef.current.isAtEnd = false;
    return keepDistanceToEnd(ref.current, change);
  };
  return { unseen, onScroll, toEnd, keepPosition };
}

type SizeChanges = {
  ref: List;
  readerRef: RefObject<Reader>;
  placeRef: RefObject<ScrollPlace>;
  toEnd: () => void;
};

/** The keyboard, a growing field and a turned phone change the list's size. */
function useSizeChanges({ ref, readerRef, placeRef, toEnd }: SizeChanges): void {
  const isHydrated = useHydrated();
  const [wasServed] = useState(!isHydrated);

  useLayoutEffect(() => {
    const list = ref.current;
    if (!list) return undefined;
    if (wasServed) {
      // A reader may have scrolled the served list.
      readerRef.current.isAtEnd = isNearEnd(list);
      placeRef.current = placeIn(list);
    }
    // The router must not restore an earlier visit's position.
    list.setAttribute('data-scroll-restoration-id', crypto.randomUUID());

    const observer = new ResizeObserver(() => {
      const reader = readerRef.current;
      // Another width gives the lines other heights: what is near the end says nothing then.
      const isAsWide = list.clientWidth === placeRef.current.width;
      if (reader.isAtEnd && isAsWide && hasLeftEnd(list, reader)) {
        reader.isAtEnd = false;
        placeRef.current = placeIn(list);
      }

      if (reader.isAtEnd) toEnd();
      else scrollToPlace(list, placeRef.current);
      Object.assign(placeRef.current, sizeOf(list));
    });
    observer.observe(list);
    return () => observer.disconnect();
  }, [ref, readerRef, placeRef, wasServed, toEnd]);
}

type NewContent = {
  ref: List;
  readerRef: RefObject<Reader>;
  content: Content;
  setUnseen: (unseen: number) => void;
};

function useNewContent({ ref, readerRef, content, setUnseen }: NewContent): void {
  const { newest } = content;
  const shown = Object.values(content).join(' ');

  useLayoutEffect(() => {
    const list = ref.current;
    if (!list || readerRef.current.shown === shown) return;
    readerRef.current.shown = shown;
    setUnseen(placeNewContent(list, readerRef.current, newest));
  }, [ref, readerRef, newest, shown, setUnseen]);
}

/** Scrolls to new content, unless the person reads further up. Returns the number of unseen messages. */
function placeNewContent(list: HTMLElement, reader: Reader, newest: number): number {
  if (hasLeftEnd(list, reader)) reader.isAtEnd = false;
  const typed = list.querySelector('[data-slot=typed]');
  // The message replaces what was read as it grew.
  const wasRead = reader.readsTyped && typed === null;
  if (wasRead || reader.isAtEnd) reader.seen = newest;

  if (reader.isAtEnd) scrollTo(list, wasRead ? lastReply(list) : typed);
  reader.placedAt = reader.isAtEnd ? list.scrollTop : 0;
  reader.readsTyped = typed !== null && topIn(list, typed) < list.clientHeight;
  return Math.max(0, newest - reader.seen);
}

/** Whether the person has scrolled up, whose event is on its way or was ignored, or selects text. */
function hasLeftEnd(list: HTMLElement, { placedAt }: Reader): boolean {
  const isScrolledUp = list.scrollTop < placedAt - 1 && !isNearEnd(list);
  return isScrolledUp || isSelecting(list);
}

async function keepDistanceToEnd(list: HTMLElement, change: () => Promise<void>): Promise<void> {
  const fromEnd = list.scrollHeight - list.scrollTop;
  await change();
  requestAnimationFrame(() => {
    list.scrollTop = list.scrollHeight - fromEnd;
    if (document.activeElement === document.body) list.focus({ preventScroll: true });
  });
}

/** The first visible line, and the share of it above the edge. */
type ScrollPlace = Size & { line: Element | null; share: number };

function placeIn(list: HTMLElement): ScrollPlace {
  const lines = [...list.querySelectorAll('li')];
  const line = lines.find((one) => topIn(list, one) + one.clientHeight > 0) ?? null;
  const share = line ? -topIn(list, line) / line.clientHeight : 0;
  return { ...sizeOf(list), line, share };
}

/** Another width changes the height of every line. */
function scrollToPlace(list: HTMLElement, { line, share }: ScrollPlace): void {
  if (line?.isConnected) list.scrollTop += topIn(list, line) + share * line.clientHeight;
}

type Size = { width: number; height: number };

const sizeOf = ({ clientWidth: width, clientHeight: height }: Element): Size => ({ width, height });

const isOfSize = ({ clientWidth, clientHeight }: Element, { width, height }: Size) =>
  clientWidth === width && clientHeight === height;

/** What somebody selects must not move. */
function isSelecting(list: HTMLElement): boolean {
  const { anchorNode = null, isCollapsed = true } = getSelection() ?? {};
  return !isCollapsed && list.contains(anchorNode);
}

const lastReply = (list: HTMLElement) =>
  [...list.querySelectorAll('[data-slot=live] > [data-author=solace]')].at(-1);

/** px above the first line of a growing reply. */
const spaceAbove = 16;

/** Scrolls to the end, but not past the start of an element. */
function scrollTo(list: HTMLElement, start: Element | null | undefined): void {
  if (!start) list.scrollTop = list.scrollHeight;
  else list.scrollTop += Math.max(0, topIn(list, start) - spaceAbove);
}

const topIn = (list: HTMLElement, element: Element) =>
  element.getBoundingClientRect().top - list.getBoundingClientRect().top;
