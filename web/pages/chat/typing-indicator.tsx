import { useEffect, useState } from 'react';
import { css } from '#styled/css';
import { useSession } from '../../data/use-session.ts';
import { chatWords } from '../../words/chat.ts';
import { layoutWords } from '../../words/layout.ts';

/** Shows that the companion is writing, until an instant (ISO 8601) or a reply; before that, that the app starts. */
export function TypingIndicator({ until }: { until: string | null }) {
  const isStarting = useSession(({ isInitializing }) => isInitializing);
  const isTyping = useIsBefore(until);
  return (
    <output className={line} data-slot="start">
      {isStarting && layoutWords.loadingApplication}
      {isTyping && !isStarting && (
        <>
          {chatWords.writing}
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

function useIsBefore(until: string | null): boolean {
  const [ended, setEnded] = useState<string | null>(null);
  useEffect(() => {
    if (until === null) return undefined;
    const timer = setTimeout(() => setEnded(until), Math.max(0, Date.parse(until) - Date.now()));
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
