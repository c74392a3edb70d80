import { Link } from '@tanstack/react-router';
import { type Plan, planOf } from '#contract/plans';
import { css } from '#styled/css';
import { badge, button } from '#styled/recipes';
import { Icon } from '../../ui/icon.tsx';
import { useSession, useVisitor } from '../../data/use-session.ts';
import { plansWords } from '../../words/plans.ts';
import { BuyButton } from './buy-button.tsx';

/** The action for a plan: start, change to it, or none for the current one. */
export function PlanAction({ plan, isPopular }: { plan: Plan; isPopular: boolean }) {
  const visitor = useVisitor();
  const tier = useSession(({ user }) => user && planOf(user.metadata.subscriptionTier).id);
  const look = isPopular ? 'primary' : 'soft';
  if (tier === null) {
    return (
      <Link
        to="/login"
        search={{ plan: plan.id }}
        className={`${isPopular ? button({ wide: true }) : button({ look: 'soft', wide: true })} ${visitor === 'unknown' ? offer : ''}`}
      >
        {plan.id === 'free' ? plansWords.start : plansWords.choose(plan.name)}
      </Link>
    );
  }
  if (tier === plan.id) {
    return (
      <p className={current}>
        <span className={badge()}>
          <Icon name="check" />
          {plansWords.current}
        </span>
      </p>
    );
  }
  if (plan.id === 'free') {
    return (
      <Link to="/account" className={button({ look: 'outline', wide: true })}>
        {plansWords.manage}
      </Link>
    );
  }
  return <BuyButton plan={plan} tier={plan.id} look={look} isFirst={tier === 'free'} />;
}

/** Hidden from returning users, for whom another action will replace it. */
const offer = css({ _returning: { visibility: 'hidden' } });

/** As high as the button that it replaces. */
const current = css({ display: 'flex', alignItems: 'center', minHeight: 'touch' });
