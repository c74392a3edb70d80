import { useEffect, useState } from 'react';
import { css } from '#styled/css';
import { link, spinner } from '#styled/recipes';
import { layoutWords } from '#words/layout';

/** What is waited for has a shorter limit (ms) of its own; a file of the app may have none. */
const longAfter = 25_000;

/** Says what is waited for; a wait that does not end offers to load the page again. */
export function Spinner({ label }: { label: string }) {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), longAfter);
    return () => clearTimeout(timer);
  }, []);
  return (
    <output className={css({ display: 'grid', justifyItems: 'center', gap: '4', color: 'muted' })}>
      <span
        className={spinner()}
        aria-hidden="true"
      />
      <span>{label}</span>
      {isLong && (
        <span>
          {layoutWords.takesLong}{' '}
          <button
            type="button"
            className={link()}
            onClick={() => location.reload()}
          >
            {layoutWords.refreshPage}
          </button>
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
