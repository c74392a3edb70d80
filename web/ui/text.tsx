import { Fragment, type ReactNode } from 'react';
import { css } from '#styled/css';

type SentenceProps = { text: string; parts: Record<string, ReactNode> };

/** A sentence whose placeholders, such as `{terms}`, are replaced by elements. */
export function Sentence({ text, parts }: SentenceProps) {
  return text.split(/\{(\w+)\}/).map((piece, index) => (
    // The pieces of a sentence keep their order.
    <Fragment key={index}>{index % 2 === 1 ? parts[piece] : piece}</Fragment>
  ));
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
