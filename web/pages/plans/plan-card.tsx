import { type Plan, pricePeriodLabel } from '#contract/plans';
import { css } from '#styled/css';
import { badge, card } from '#styled/recipes';
import { Icon } from '../../ui/icon.tsx';
import { plansWords } from '../../words/plans.ts';
import { PlanAction } from './plan-action.tsx';

const popular = 'premium';

/** One plan with its price and contents. */
export function PlanCard({ plan }: { plan: Plan }) {
  const isPopular = plan.id === popular;
  return (
    <li
      className={`${isPopular ? card({ look: 'featured' }) : card({ look: 'raised' })} ${css({ position: 'relative', gap: '5', overflowWrap: 'anywhere' })}`}
      aria-labelledby={`plan-${plan.id}`}
    >
      <header className={css({ display: 'grid', gridTemplateColumns: '[minmax(0, 1fr)]', gap: '3' })}>
        <h2 id={`plan-${plan.id}`} className={css({ textStyle: 'subheading' })}>
          {plan.name}
        </h2>
        {isPopular && <p className={`${badge({ look: 'warm' })} ${ribbon}`}>{plansWords.popular}</p>}
        <p>
          <span className={css({ textStyle: 'figure', color: 'primary' })}>{plan.price}</span>{' '}
          {plan.price !== '$0' && (
            <span className={css({ display: 'block', textStyle: 'small', color: 'muted' })}>{pricePeriodLabel}</span>
          )}
        </p>
        <p className={css({ color: 'muted' })}>{plan.description}</p>
      </header>
      <ul
        className={css({ display: 'grid', gap: '3', marginBottom: 'auto' })}
        aria-label={plansWords.features(plan.name)}
      >
        {plan.features.map((feature) => (
          <li key={feature} className={css({ display: 'flex', gap: '3', fontSize: 'sm' })}>
            <span className={css({ flexShrink: '0', color: 'primary' })}>
              <Icon name="check" />
            </span>
            {feature}
          </li>
        ))}
      </ul>
      <PlanAction plan={plan} isPopular={isPopular} />
    </li>
  );
}

/** Overlaps the edge of the card, so that the names of all plans stay aligned. */
const ribbon = css({
  position: 'absolute',
  top: '0',
  insetInlineStart: '6',
  translate: '[0 -50%]',
  borderColor: 'warm',
});
