import { Fragment, type ReactNode } from 'react';

type Props = { text: string; parts: Record<string, ReactNode> };

/** A sentence whose placeholders, such as `{terms}`, are replaced by elements. */
export function Sentence({ text, parts }: Props) {
  return text.split(/\{(\w+)\}/).map((piece, index) => (
    // The pieces of a sentence keep their order.
    <Fragment key={index}>{index % 2 === 1 ? parts[piece] : piece}</Fragment>
  ));
}
