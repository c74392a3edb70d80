import { type PlanId, plans } from '#contract/plans';
import { planTextWords } from '#words/plan-texts';
import { fourWeekPrices, prices } from '#words/intl';

export type PlanTexts = {
  name: string;
  description: string;
  price: string;
  /** Null for the free plan. */
  fourWeeks: string | null;
  features: string[];
};

export function planTexts(id: PlanId): PlanTexts {
  const { name, description, features } = planTextWords.plans[id];
  const { weeklyCents, messageLimit } = plans[id];
  const allowance =
    messageLimit === null || messageLimit < 0 ? [] : [planTextWords.weekly(messageLimit)];
  const paid = weeklyCents > 0;
  return {
    name,
    description,
    price: paid ? prices[id] : name,
    fourWeeks: paid ? fourWeekPrices[id] : null,
    features: [...allowance, ...features],
  };
}

export const planName = (id: PlanId): string => planTextWords.plans[id].name;
