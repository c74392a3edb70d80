import { useEffect, useRef, useState } from 'react';

/** The visible slide, and a function to go to the next; for a list that scrolls by its own width. */
export function useSlides(count: number) {
  const track = useRef<HTMLUListElement>(null);
  const [position, setPosition] = useState(0);

  useEffect(() => {
    const list = track.current;
    if (!list) return undefined;
    const look = () => setPosition(Math.round(list.scrollLeft / Math.max(1, list.clientWidth)));
    list.addEventListener('scroll', look, { passive: true });
    return () => list.removeEventListener('scroll', look);
  }, []);

  const move = (by: number) => {
    const target = Math.min(count - 1, Math.max(0, position + by));
    track.current?.scrollTo({ left: target * track.current.clientWidth });
  };
  return { track, position, move };
}
