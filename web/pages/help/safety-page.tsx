import { Link } from '@tanstack/react-router';
import { css } from '#styled/css';
import { button, page, prose } from '#styled/recipes';
import { Sentence } from '../../ui/text.tsx';
import { safetyWords } from '#words/help';

/** Solace's response to messages about self-harm, and its limits. */
export function SafetyPage() {
  return (
    <article className={page({ width: 'reading' })}>
      <header className={css({ display: 'grid', gap: '4', justifyItems: 'start' })}>
        <h1 className={css({ textStyle: 'title' })}>{safetyWords.title}</h1>
        <p className={css({ textStyle: 'lead' })}>{safetyWords.lead}</p>
        <Link to="/help-now" className={button()}>
          {safetyWords.help}
        </Link>
      </header>
      <div className={prose()}>
        {safetyWords.sections.map(({ title, points }) => (
          <section key={title}>
            <h2>{title}</h2>
            <ul>
              {points.map((point) => (
                <li key={point}>{point}</li>
              ))}
            </ul>
          </section>
        ))}
        <p>
          <Sentence parts={safetyWords.wrong({ contact })} />
        </p>
      </div>
    </article>
  );
}

const contact = (text: string) => <Link to="/contact">{text}</Link>;
