import type { ReactNode } from 'react';
import { css } from '#styled/css';

/** A button with the hint that describes it: give the button `aria-describedby="{id}-hint"`. */
export function Action({ id, hint, children }: { id: string; hint: string; children: ReactNode }) {
  return (
    <div className={css({ display: 'grid', gap: '2' })}>
      {children}
      <p
        id={`${id}-hint`}
        className={css({ textStyle: 'fine', color: 'muted', textAlign: 'center', textWrap: 'balance' })}
      >
        {hint}
      </p>
    </div>
  );
}
