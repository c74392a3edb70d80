import { Link } from '@tanstack/react-router';
import { type Plan, planOf } from '#contract/plans';
import { badge, button } from '#styled/recipes';
import { Icon } from '../ui/icon.tsx';
import { useSession } from '../use-session.ts';
import { plansWords } from '../words/plans.ts';
import { BuyButton } from './buy-button.tsx';

/** What a person can do about a plan: begin, change to it, or nothing because it is theirs. */
export function PlanAction({ plan, isPopular }: { plan: Plan; isPopular: boolean }) {
  const tier = useSession(({ user }) => user && planOf(user.metadata.subscriptionTier).id);
  const look = isPopular ? 'primary' : 'soft';
  if (tier === null) {
    return (
      <Link to="/login" search={{ plan: plan.id }} className={button({ look, wide: true })}>
        {plan.id === 'free' ? plansWords.start : plansWords.choose(plan.name)}
      </Link>
    );
  }
  if (tier === plan.id) {
    return (
      <p className={badge()}>
        <Icon name="check" />
        {plansWords.current}
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
