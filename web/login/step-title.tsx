import type { ReactNode } from 'react';
import { useEffect, useRef } from 'react';
import { css } from '#styled/css';

/** The heading of a step; each step after the first takes the focus, so that it is read out. */
export function StepTitle({ title, children, focus = true }: { title: string; children?: ReactNode; focus?: boolean }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (focus) heading.current?.focus();
  }, [focus]);
  return (
    <header className={css({ display: 'grid', gap: '3' })}>
      <h1 ref={heading} tabIndex={-1} className={css({ textStyle: 'heading' })}>
        {title}
      </h1>
      {children && <p className={css({ color: 'muted' })}>{children}</p>}
    </header>
  );
}
