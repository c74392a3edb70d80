import { useNavigate } from '@tanstack/react-router';
import type { PaidPlanId, Plan } from '#contract/plans';
import { useState } from 'react';
import { button } from '#styled/recipes';
import { isOwnAddress } from '../../rules/hosts.ts';
import { notifyError } from '../../data/error-handler.ts';
import { accountWords } from '../../words/account.ts';
import { plansWords } from '../../words/plans.ts';

type Props = { plan: Plan; tier: PaidPlanId; look: 'primary' | 'soft'; isFirst: boolean };

/** Opens the page to buy the plan or change to it. */
export function BuyButton({ plan, tier, look, isFirst }: Props) {
  const [isBusy, setBusy] = useState(false);
  const navigate = useNavigate();

  const buy = async () => {
    const { createSubscriptionSession } = await import('../../data/billing.ts');
    const url = await createSubscriptionSession(tier);
    if (isOwnAddress(url, location.href)) return navigate({ href: url });
    location.assign(url);
  };

  const start = async () => {
    if (isBusy) return;
    setBusy(true);
    await buy().catch((error: unknown) =>
      notifyError(error, { title: accountWords.error, fallback: plansWords.failed }),
    );
    setBusy(false);
  };

  return (
    <button
      type="button"
      className={look === 'primary' ? button({ wide: true }) : button({ look: 'soft', wide: true })}
      aria-busy={isBusy}
      onClick={() => void start()}
    >
      {isBusy ? plansWords.opening : isFirst ? plansWords.choose(plan.name) : plansWords.switchTo(plan.name)}
    </button>
  );
}
