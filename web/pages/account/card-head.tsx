import type { ReactNode } from 'react';
import { css } from '#styled/css';

type Props = { id: string; title: string; beside?: ReactNode; children?: ReactNode };

/** A card's title, with optional content beside it and at its end. */
export function CardHead({ id, title, beside, children }: Props) {
  return (
    <header className={css({ display: 'flex', alignItems: 'center', gap: '3', minHeight: 'touch' })}>
      <h2 id={id} className={css({ textStyle: 'subheading' })}>
        {title}
      </h2>
      {beside}
      {children && <div className={css({ marginInlineStart: 'auto' })}>{children}</div>}
    </header>
  );
}
