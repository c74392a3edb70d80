import { type ReactNode, useEffect, useRef } from 'react';
import { css } from '#styled/css';

type Props = { title: string; children?: ReactNode; id?: string; focus?: boolean };

/** Takes the focus, so that screen readers announce the step. */
export function StepTitle({ title, children, id, focus = true }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (focus) heading.current?.focus();
  }, [focus]);
  return (
    <header className={css({ display: 'grid', gap: '3' })}>
      <h1
        ref={heading}
        id={id}
        tabIndex={-1}
        className={css({ textStyle: 'heading' })}
      >
        {title}
      </h1>
      {children && <p className={css({ color: 'muted' })}>{children}</p>}
    </header>
  );
}
