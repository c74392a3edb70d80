import { useEffect, useRef } from 'react';
import { chatWords } from '../../words/chat.ts';

/** Counts replies in the document's title while the tab is hidden. There is no sound. */
export function useUnseenTitle(replies: number): void {
  const seen = useRef(replies);
  useEffect(() => {
    const title = document.title.replace(/^\(\d+\) /, '');
    const show = () => {
      if (!document.hidden) seen.current = replies;
      const unseen = replies - seen.current;
      document.title = unseen > 0 ? chatWords.documentTitle(unseen, title) : title;
    };
    show();
    document.addEventListener('visibilitychange', show);
    return () => {
      document.removeEventListener('visibilitychange', show);
      document.title = title;
    };
  }, [replies]);
}
