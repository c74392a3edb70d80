import type { ComponentProps } from 'react';
import { css } from '#styled/css';
import { card } from '#styled/recipes';

type Props = Omit<ComponentProps<'section'>, 'id' | 'title'> & {
  /** The id of the heading, which names the card. */
  id: string;
  /** Missing where the children have the heading. */
  title?: string;
};

export function Card({ id, title, children, ...section }: Props) {
  return (
    <section
      className={card({ look: 'raised' })}
      aria-labelledby={id}
      {...section}
    >
      {title && (
        <h2
          id={id}
          className={css({ textStyle: 'subheading' })}
        >
          {title}
        </h2>
      )}
      {children}
    </section>
  );
}
