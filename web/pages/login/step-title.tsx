import type { ReactNode } from 'react';
import { useEffect, useRef } from 'react';
import { css } from '#styled/css';

type Props = { title: string; children?: ReactNode; id?: string; focus?: boolean };

/**
 * The heading of a step; it takes the focus, so that screen readers announce it, unless the step focuses something
 * else.
 */
export function StepTitle({ title, children, id, focus = true }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (focus) heading.current?.focus();
  }, [focus]);
  return (
    <header className={css({ display: 'grid', gap: '3' })}>
      <h1 ref={heading} id={id} tabIndex={-1} className={css({ textStyle: 'heading' })}>
        {title}
      </h1>
      {children && <p className={css({ color: 'muted' })}>{children}</p>}
    </header>
  );
}
