import { Link } from '@tanstack/react-router';
import { css } from '#styled/css';
import type { ReactNode } from 'react';
import { Sentence } from '../../ui/text.tsx';
import { page, prose } from '#styled/recipes';

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
        <p className={css({ textStyle: 'small', color: 'muted' })}>{text.lastUpdated}</p>
        <p className={css({ textStyle: 'lead' })}>{text.intro}</p>
      </header>
      <div className={prose()}>
        {text.sections.map(({ title, blocks }, index) => (
          <section key={title}>
            <h2>{`${index + 1}. ${title}`}</h2>
            {blocks.map((block) => (
              <Block
                key={JSON.stringify(block)}
                block={block}
              />
            ))}
          </section>
        ))}
      </div>
    </article>
  );
}

function Block({ block }: { block: LegalText['sections'][number]['blocks'][number] }) {
  if (typeof block === 'string') return <p>{block}</p>;
  if (typeof block === 'object') return <Points points={block} />;
  const help = (text: string) => <Link to="/help-now">{text}</Link>;
  return (
    <p>
      <Sentence parts={block({ help })} />
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

type LinkedText = (links: { help: (text: string) => ReactNode }) => ReactNode[];

type Section = LegalText['sections'][number];

export function withSection(text: LegalText, index: number, section: Section | false): LegalText {
  return section ? { ...text, sections: text.sections.toSpliced(index, 0, section) } : text;
}

export type LegalText = {
  title: string;
  lastUpdated: string;
  intro: string;
  sections: readonly {
    title: string;
    blocks: readonly (string | readonly string[] | LinkedText)[];
  }[];
};
