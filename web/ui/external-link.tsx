import type { ReactNode } from 'react';
import { css } from '#styled/css';
import { layoutWords } from '#words/layout';

type Props = { href: string; className: string; children: ReactNode };

/** A link to another site, in a new tab without access to this one (`noopener`). */
export function ExternalLink({ href, className, children }: Props) {
  return (
    <a href={href} className={className} target="_blank" rel="noopener noreferrer">
      {children}
      <span className={visuallyHidden}> {layoutWords.newTab}</span>
    </a>
  );
}

export const visuallyHidden = css({
  position: 'absolute',
  width: '[1px]',
  height: '[1px]',
  overflow: 'hidden',
  clipPath: 'inset(50%)',
  whiteSpace: 'nowrap',
});
