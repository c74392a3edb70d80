import { css } from '#styled/css';
import { page, prose } from '#styled/recipes';
import { type LegalText, lastUpdated } from './legal-text.ts';

/** A legal text, set for reading and for paper. */
export function Document({ text }: { text: LegalText }) {
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
            {blocks.map((block) =>
              typeof block === 'string' ? <p key={block}>{block}</p> : <Points key={block[0]} points={block} />,
            )}
          </section>
        ))}
      </div>
    </article>
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
