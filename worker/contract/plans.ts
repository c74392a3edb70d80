export const planIds = ['free', 'basic', 'premium', 'platinum'] as const;
export type PlanId = (typeof planIds)[number];
export type PaidPlanId = Exclude<PlanId, 'free'>;
export const paidPlanIds = planIds.filter((id): id is PaidPlanId => id !== 'free');

export const currency: string = 'usd';

export type Plan = {
  id: PlanId;
  name: string;
  weeklyCents: number;
  description: string;
  /** -1 means unlimited, null that usage is not tracked. */
  messageLimit: number | null;
  /** 0 (free) to 3 (platinum). */
  level: number;
  hasVoice?: boolean;
  /** False: no page offers it, and its subscribers keep it. */
  onSale: boolean;
  periodDescription: 'day' | 'week' | 'month';
};

export const plans: Record<PlanId, Plan> = {
  free: {
    id: 'free',
    name: 'Free',
    weeklyCents: 0,
    description: 'A gentle way to get to know Solace.',
    messageLimit: 5,
    level: 0,
    periodDescription: 'week',
    onSale: true,
  },
  basic: {
    id: 'basic',
    name: 'Basic',
    weeklyCents: 1199,
    description: 'A steady companion for everyday ups and downs.',
    messageLimit: 30,
    level: 1,
    hasVoice: true,
    periodDescription: 'week',
    onSale: true,
  },
  premium: {
    id: 'premium',
    name: 'Premium',
    weeklyCents: 2999,
    description: 'Room for deeper conversations, several times a day.',
    messageLimit: 70,
    level: 2,
    hasVoice: true,
    periodDescription: 'week',
    onSale: true,
  },
  platinum: {
    id: 'platinum',
    name: 'Platinum',
    weeklyCents: 7999,
    description: 'The most generous allowance, answered first.',
    messageLimit: 160,
    level: 3,
    hasVoice: true,
    periodDescription: 'week',
    onSale: true,
  },
};

export function plansOnSale(): Plan[] {
  return planIds.map((id) => plans[id]).filter(({ onSale }) => onSale);
}

/** Free for a missing, 'inactive' or unknown id. */
export function planOf(id: string | null | undefined): Plan {
  return plans[planIds.find((known) => known === id) ?? 'free'];
}
