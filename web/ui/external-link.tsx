import type { ReactNode } from 'react';
import { spoken } from '#styled/recipes';
import { layoutWords } from '#words/layout';

type Props = { href: string; className: string; label: string; children?: ReactNode };

/** Its name says that it opens a tab: hidden text would be copied, and cut a triple click. */
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

export const visuallyHidden = spoken();
