/** SPEC 2 and 9; everything but title, marker, badge and support link is ours. */
export const plansWords = {
  title: 'Choose Your Plan',
  lead: 'Begin for free and change your mind at any time. Every plan renews weekly, and so does its allowance.',
  popular: 'Most Popular',
  current: 'Current Plan',
  start: 'Start for Free',
  choose: (plan: string) => `Choose ${plan}`,
  switchTo: (plan: string) => `Switch to ${plan}`,
  manage: 'Manage in My Account',
  opening: 'Opening...',
  failed: 'Failed to open subscription management',
  support: 'Not sure which plan fits? {link} and we will help you choose.',
  supportLink: 'Contact Support',
  features: (plan: string) => `What ${plan} includes`,
} as const;
