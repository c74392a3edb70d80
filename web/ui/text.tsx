import { Fragment, type ReactNode } from 'react';
import { css } from '#styled/css';
import { layoutWords } from '#words/layout';

/** A sentence that contains elements, as the words with tags return it. */
export function Sentence({ parts }: { parts: ReactNode[] }) {
  // The parts of a sentence keep their order.
  return parts.map((part, index) => <Fragment key={index}>{part}</Fragment>);
}

type VisitorProps = { visitor: 'unknown' | 'guest' | 'member'; guest: string; member: string };

/**
 * A text for guests or for signed-in visitors. For an unknown visitor, CSS shows the second one if a token is stored.
 */
export function TextByVisitor({ visitor, guest, member }: VisitorProps) {
  if (visitor !== 'unknown') return visitor === 'member' ? member : guest;
  return (
    <>
      <span className={css({ _returning: { display: 'none' } })}>{guest}</span>
      <span className={css({ display: 'none', _returning: { display: 'inline' } })}>{member}</span>
    </>
  );
}

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

/** For text that only screen readers announce. */
export const visuallyHidden = css({
  position: 'absolute',
  width: '[1px]',
  height: '[1px]',
  overflow: 'hidden',
  clipPath: 'inset(50%)',
  whiteSpace: 'nowrap',
});
