import { css } from '#styled/css';
import { landingWords } from '../../words/landing.ts';
import { Section } from './section.tsx';

/** The first three steps. */
export function Steps() {
  return (
    <Section id="steps" title={landingWords.stepsTitle}>
      <ol className={steps}>
        {landingWords.steps.map(({ title, text }) => (
          <li key={title}>
            <h3 className={css({ textStyle: 'subheading' })}>{title}</h3>
            <p className={css({ color: 'muted', marginTop: '2' })}>{text}</p>
          </li>
        ))}
      </ol>
    </Section>
  );
}

const steps = css({
  counterReset: 'step',
  display: 'grid',
  gridTemplateColumns: { base: '[minmax(0, 1fr)]', md: '[repeat(3, minmax(0, 1fr))]' },
  gap: '8',
  '& li': { counterIncrement: 'step', borderTopWidth: 'thick', borderColor: 'primary', paddingTop: '5' },
  '& li::before': {
    content: 'counter(step)',
    display: 'block',
    textStyle: 'title',
    color: 'primary',
    marginBottom: '3',
  },
});
