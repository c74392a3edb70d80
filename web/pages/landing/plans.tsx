import { Link } from '@tanstack/react-router';
import { plansOnSale } from '#contract/plans';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { landingWords } from '../../words/landing.ts';
import { Section } from './section.tsx';
import { Teaser } from './teaser.tsx';

/** The plans in short. */
export function Plans() {
  return (
    <Section id="plans" title={landingWords.plansTitle} lead={landingWords.plansLead}>
      <ul className={grid}>
        {plansOnSale().map((plan) => (
          <Teaser key={plan.id} plan={plan} />
        ))}
      </ul>
      <Link to="/plans" className={`${button({ look: 'outline', size: 'lg' })} ${css({ justifySelf: 'start' })}`}>
        {landingWords.viewAllPlans}
      </Link>
    </Section>
  );
}

const grid = css({
  display: 'grid',
  gridTemplateColumns: {
    base: '[minmax(0, 1fr)]',
    md: '[repeat(2, minmax(0, 1fr))]',
    xl: '[repeat(auto-fit, minmax(14rem, 1fr))]',
  },
  gap: '5',
});
