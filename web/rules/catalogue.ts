import { type PlanId, plans } from '#contract/plans';
import { catalogueWords } from '#words/catalogue';
import { prices } from '#words/intl';

export type PlanTexts = { name: string; description: string; price: string; features: string[] };

/** What the pages say about a plan; the price includes its currency. */
export function planTexts(id: PlanId): PlanTexts {
  const { name, description, features } = catalogueWords.plans[id];
  const { weeklyCents, messageLimit } = plans[id];
  const allowance = messageLimit === null || messageLimit < 0 ? [] : [catalogueWords.weekly(messageLimit)];
  return { name, description, price: weeklyCents === 0 ? name : prices[id], features: [...allowance, ...features] };
}

/** The name of a plan on the site. */
export const planName = (id: PlanId): string => catalogueWords.plans[id].name;
