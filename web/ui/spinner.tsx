import { useEffect, useState } from 'react';
import { css } from '#styled/css';
import { spinner } from '#styled/recipes';
import { layoutWords } from '#words/layout';
import { RefreshPage } from './refresh-page.tsx';

/** What is waited for has shorter limits; a file may have none. */
const longAfterMs = 25_000;

/** A wait that does not end offers a reload. */
export function Spinner({ label }: { label: string }) {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), longAfterMs);
    return () => clearTimeout(timer);
  }, []);
  return (
    <output
      className={css({
        display: 'grid',
        justifyItems: 'center',
        gap: '4',
        color: 'muted',
      })}
    >
      <span
        className={spinner()}
        aria-hidden="true"
      />
      <span>{label}</span>
      {isLong && (
        <span>
          {layoutWords.takesLong} <RefreshPage />
        </span>
      )}
    </output>
  );
}

export function PageSpinner({ label }: { label: string }) {
  return (
    <div
      className={css({
        flex: '1',
        display: 'grid',
        placeItems: 'center',
        minHeight: '[60dvh]',
        padding: '8',
      })}
    >
      <Spinner label={label} />
    </div>
  );
}
