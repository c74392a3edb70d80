export const planIds = ['free', 'basic', 'premium', 'platinum'] as const;
export type PlanId = (typeof planIds)[number];
export type PaidPlanId = Exclude<PlanId, 'free'>;
export const paidPlanIds = planIds.filter((id): id is PaidPlanId => id !== 'free');

export type Plan = {
  id: PlanId;
  name: string;
  /** As people read it, currency included. */
  price: string;
  /** US cents a week. */
  weeklyCents: number;
  description: string;
  features: readonly string[];
  /** Messages a week; -1 means unlimited, null means that usage is not tracked. */
  messageLimit: number | null;
  /** 0 (free) to 3 (platinum); a change to a higher level is an upgrade. */
  level: number;
  hasVoice?: boolean;
  periodDescription: string;
  /** False takes a plan off sale: no page offers it, its price at Stripe stays, and its subscribers keep it. */
  onSale: boolean;
};

const week = 'week';

/** The text beside a price on the plans page; the subscriptions themselves are billed weekly. */
export const pricePeriodLabel = '/per month';

export const plans: Record<PlanId, Plan> = {
  free: {
    id: 'free',
    name: 'Free',
    price: 'Free',
    weeklyCents: 0,
    description: 'A gentle way to get to know Solace.',
    features: ['5 messages per week', 'Text conversations', 'Community support'],
    messageLimit: 5,
    level: 0,
    periodDescription: week,
    onSale: true,
  },
  basic: {
    id: 'basic',
    name: 'Basic',
    price: '$11.99',
    weeklyCents: 1199,
    description: 'A steady companion for everyday ups and downs.',
    features: ['30 messages per week', 'Text and voice messages', 'Email support'],
    messageLimit: 30,
    level: 1,
    hasVoice: true,
    periodDescription: week,
    onSale: true,
  },
  premium: {
    id: 'premium',
    name: 'Premium',
    price: '$29.99',
    weeklyCents: 2999,
    description: 'Room for deeper conversations, several times a day.',
    features: ['70 messages per week', 'Text and voice messages', 'Priority support'],
    messageLimit: 70,
    level: 2,
    hasVoice: true,
    periodDescription: week,
    onSale: true,
  },
  platinum: {
    id: 'platinum',
    name: 'Platinum',
    price: '$79.99',
    weeklyCents: 7999,
    description: 'The most generous allowance, answered first.',
    features: ['160 messages per week', 'Text and voice messages', 'Priority support', 'Priority response'],
    messageLimit: 160,
    level: 3,
    hasVoice: true,
    periodDescription: week,
    onSale: true,
  },
};

/** The plans that pages offer, in the order of their level. */
export function plansOnSale(): Plan[] {
  return planIds.map((id) => plans[id]).filter(({ onSale }) => onSale);
}

/** The plan of an id; free for a missing, 'inactive' or unknown id. */
export function planOf(id: string | null | undefined): Plan {
  return plans[planIds.find((known) => known === id) ?? 'free'];
}
