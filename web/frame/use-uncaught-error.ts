import { useEffect, useState } from 'react';

/** The text of the first error of the window that nobody caught; null while there is none. */
export function useUncaughtError(): string | null {
  const [text, setText] = useState<string | null>(null);
  useEffect(() => {
    const note = (event: ErrorEvent) => {
      // Browsers report a layout that needed two rounds as an error; nothing is broken then.
      if (event.message.startsWith('ResizeObserver loop')) return;
      setText((before) => before ?? (event.error instanceof Error ? event.error.message : event.message));
    };
    addEventListener('error', note);
    return () => removeEventListener('error', note);
  }, []);
  return text;
}
