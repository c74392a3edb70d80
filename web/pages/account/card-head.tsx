import type { ReactNode } from 'react';
import { css } from '#styled/css';

/** A card's title, with optional content at its end. */
export function CardHead({ id, title, children }: { id: string; title: string; children?: ReactNode }) {
  return (
    <header className={css({ display: 'flex', alignItems: 'center', gap: '3', minHeight: 'touch' })}>
      <h2 id={id} className={css({ textStyle: 'subheading', marginInlineEnd: 'auto' })}>
        {title}
      </h2>
      {children}
    </header>
  );
}
