import { type Plan, pricePeriodLabel } from '#contract/plans';
import { css } from '#styled/css';
import { badge, card } from '#styled/recipes';
import { Icon } from '../ui/icon.tsx';
import { plansWords } from '../words/plans.ts';
import { PlanAction } from './plan-action.tsx';

const popular = 'premium';

/** One plan with its price and what it includes. */
export function PlanCard({ plan }: { plan: Plan }) {
  const isPopular = plan.id === popular;
  return (
    <li
      className={`${card({ look: isPopular ? 'featured' : 'raised' })} ${css({ gap: '5' })}`}
      aria-labelledby={`plan-${plan.id}`}
    >
      <header className={css({ display: 'grid', gap: '3' })}>
        <div
          className={css({
            display: 'flex',
            flexWrap: 'wrap',
            alignItems: 'center',
            justifyContent: 'space-between',
            gap: '2',
            minHeight: '[2rem]',
          })}
        >
          <h2 id={`plan-${plan.id}`} className={css({ textStyle: 'subheading' })}>
            {plan.name}
          </h2>
          {isPopular && <span className={badge({ look: 'warm' })}>{plansWords.popular}</span>}
        </div>
        <p className={css({ display: 'flex', flexWrap: 'wrap', alignItems: 'baseline', columnGap: '2' })}>
          <span className={css({ textStyle: 'figure', color: 'primary' })}>{plan.price}</span>
          {plan.price !== '$0' && (
            <span className={css({ textStyle: 'small', color: 'muted' })}>{pricePeriodLabel}</span>
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
            <span className={css({ color: 'primary' })}>
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
