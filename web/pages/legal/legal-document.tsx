import { Link } from '@tanstack/react-router';
import { css } from '#styled/css';
import { page, prose } from '#styled/recipes';

/** A legal text, styled for screen and print. */
export function LegalDocument({ text }: { text: LegalText }) {
  return (
    <article className={page({ width: 'reading' })}>
      <header
        className={css({
          display: 'grid',
          gap: '4',
          paddingBottom: '6',
          borderBottomWidth: 'thin',
          borderColor: 'line',
        })}
      >
        <h1 className={css({ textStyle: 'title' })}>{text.title}</h1>
        <p className={css({ textStyle: 'small', color: 'muted' })}>{lastUpdated}</p>
        <p className={css({ textStyle: 'lead' })}>{text.intro}</p>
      </header>
      <div className={prose()}>
        {text.sections.map(({ title, blocks }, index) => (
          <section key={title}>
            <h2>{`${index + 1}. ${title}`}</h2>
            {blocks.map((block) => (
              <Block key={JSON.stringify(block)} block={block} />
            ))}
          </section>
        ))}
      </div>
    </article>
  );
}

function Block({ block }: { block: LegalText['sections'][number]['blocks'][number] }) {
  if (typeof block === 'string') return <p>{block}</p>;
  if (!('to' in block)) return <Points points={block} />;
  return (
    <p>
      {block.text} <Link to={block.to}>{block.label}</Link>
    </p>
  );
}

function Points({ points }: { points: readonly string[] }) {
  return (
    <ul>
      {points.map((point) => (
        <li key={point}>{point}</li>
      ))}
    </ul>
  );
}

/** A paragraph that ends in a link to a page of the site. */
export type LinkedText = { text: string; to: '/help-now' | '/safety'; label: string };

/** A legal page: its introduction, then numbered sections of paragraphs and lists. */
export type LegalText = {
  title: string;
  intro: string;
  sections: readonly { title: string; blocks: readonly (string | readonly string[] | LinkedText)[] }[];
};

/** The effective date of both texts. */
const lastUpdated = 'Last updated February 16, 2025';
