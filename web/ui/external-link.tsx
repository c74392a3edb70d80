import type { ReactNode } from 'react';
import { layoutWords } from '#words/layout';

type Props = { href: string; className: string; label: string; children?: ReactNode };

/** Says in its accessible name that it opens a tab. Hidden text would be copied. */
export function ExternalLink({ href, className, label, children = label }: Props) {
  return (
    <a
      href={href}
      className={className}
      target="_blank"
      rel="noopener noreferrer"
      aria-label={`${label} ${layoutWords.newTab}`}
    >
      {children}
    </a>
  );
}
