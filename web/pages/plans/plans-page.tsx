import { Link } from '@tanstack/react-router';
import { plansOnSale } from '#contract/plans';
import { css } from '#styled/css';
import { link, page } from '#styled/recipes';
import { Sentence } from '../../ui/text.tsx';
import { plansWords } from '#words/plans';
import { PlanCard } from './plan-card.tsx';

const byLevel = plansOnSale().toSorted((a, b) => a.level - b.level);

/** The four plans. */
export function PlansPage() {
  const contact = (text: string) => (
    <Link to="/contact" className={link()}>
      {text}
    </Link>
  );
  return (
    <div className={page()}>
      <header
        className={css({
          display: 'grid',
          gap: '4',
          justifyItems: 'center',
          textAlign: 'center',
          marginBottom: { base: '8', md: '12' },
        })}
      >
        <h1 className={css({ textStyle: 'display' })}>{plansWords.title}</h1>
        <p className={css({ textStyle: 'lead', color: 'muted', maxWidth: 'reading' })}>{plansWords.lead}</p>
      </header>
      <ul className={grid}>
        {byLevel.map((plan) => (
          <PlanCard key={plan.id} plan={plan} />
        ))}
      </ul>
      <p className={css({ marginTop: '12', textAlign: 'center', color: 'muted' })}>
        <Sentence parts={plansWords.support({ contact })} />
      </p>
    </div>
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
  alignItems: 'stretch',
});
