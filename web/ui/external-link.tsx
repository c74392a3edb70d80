import type { ReactNode } from 'react';
import { spoken } from '#styled/recipes';
import { layoutWords } from '#words/layout';

type Props = { href: string; className: string; label: string; children?: ReactNode };

/**
 * A link to another site, in a new tab without access to this one (`noopener`). Its name says so, and no hidden text in it:
 * that would be copied with the address, and cut the paragraph for a triple click.
 */
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
