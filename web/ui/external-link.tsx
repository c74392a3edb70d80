import type { ReactNode } from 'react';
import { visuallyHidden } from './visually-hidden.tsx';
import { layoutWords } from '../words/layout.ts';

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
