import type { ReactNode } from 'react';
import { css } from '#styled/css';

type Props = {
  id: string;
  title: string;
  lead?: string;
  tone?: 'plain' | 'sunken';
  roleDescription?: string;
  children: ReactNode;
};

/** A section of the landing page with a heading. */
export function Section({ id, title, lead, tone = 'plain', roleDescription, children }: Props) {
  return (
    <section className={band} data-tone={tone} aria-labelledby={id} aria-roledescription={roleDescription}>
      <div className={inner}>
        <header className={css({ display: 'grid', gap: '3', maxWidth: '[40rem]' })}>
          <h2 id={id} className={css({ textStyle: 'title' })}>
            {title}
          </h2>
          {lead && <p className={css({ textStyle: 'lead', color: 'muted' })}>{lead}</p>}
        </header>
        {children}
      </div>
    </section>
  );
}

const band = css({
  paddingBlock: 'section',
  '&[data-tone=sunken]': { backgroundColor: 'surface', borderBlockWidth: 'thin', borderColor: 'line' },
});

const inner = css({
  display: 'grid',
  gap: { base: '8', md: '12' },
  maxWidth: 'page',
  marginInline: 'auto',
  paddingInline: 'gutter',
});
