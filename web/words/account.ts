import { brand } from '#contract/brand';

const { companion, messagingApp: app } = brand;

/** SPEC 2, 4, 7 and 8; page title and connection states are ours. */
export const accountWords = {
  title: 'My Account',
  loading: 'Loading user data...',
  deleting: 'Deleting account data...',
  invalidNumber: 'Invalid Number',
  chat: `Chat with ${companion}`,
  help: 'Get help now',
  logout: 'Logout',
  currentPlan: 'Current Plan',
  freeTrial: 'Free Trial',
  refreshPlan: 'Refresh plan',
  refreshUsage: 'Refresh usage',
  success: 'Success',
  error: 'Error',
  refreshed: 'Profile refreshed successfully',
  refreshFailed: 'Failed to refresh profile',
  planUpdated: 'Plan Updated',
  planUpdatedTo: (tier: string) => `Your plan has been updated to ${tier}`,
} as const;

/** SPEC 4, status line. */
export const statusWords = {
  unknownDate: 'an unknown date',
  trialEnds: (date: string) => `Trial ends on ${date}`,
  trialEndsAndSwitches: (date: string, plan: string) => `Trial ends on ${date} and will switch to ${plan}`,
  trialWithoutDate: 'Trial status error - please refresh',
  trialSwitchesWithoutDate: (plan: string) => `Trial will switch to ${plan} (error: missing date)`,
  downgrade: (plan: string, date: string) => `Downgrade scheduled. Changes to ${plan} on ${date}`,
  downgradeWithoutDate: (plan: string) => `Downgrade scheduled. Changes to ${plan} (error: missing date)`,
  cancellation: (date: string) => `Cancellation scheduled. Changes to Free on ${date}`,
  cancellationWithoutDate: 'Cancellation scheduled. Changes to Free (error: missing date)',
  pastDue: 'Payment Past Due',
  pastDueHint: 'Please update your payment method to reactivate.',
  free: 'Free plan - upgrade to get full access',
  renews: (date: string) => `Renews on ${date}`,
  subscriptionError: 'Subscription error - please refresh',
  pleaseRefresh: 'Please refresh to update status',
} as const;

/** SPEC 2, Usage card; the connection states are ours. */
export const usageWords = {
  title: 'Usage',
  /** By the period of the plan. */
  used: { day: 'Messages used today:', week: 'Messages used this week:', month: 'Messages used this month:' },
  of: (used: number, limit: number) => `${used} / ${limit}`,
  spoken: (used: number, limit: number) => `${used} of ${limit} messages used`,
  upgrade: 'Upgrade for more messages.',
  platinum: (limit: number) => `${limit} messages per week on this plan.`,
  notApplicable: 'Usage tracking not applicable for this plan.',
  almost: 'Most messages of this week are used.',
  reached: 'All messages of this week are used.',
  connection: {
    closed: 'Live updates are off',
    connecting: 'Connecting...',
    live: 'Live',
    reconnecting: 'Reconnecting...',
    lost: 'Live updates paused',
  },
} as const;

/** SPEC 2, Compare Plans. */
export const compareWords = {
  title: 'Compare Plans',
  current: 'Current Plan',
  feature: 'Feature',
  messages: 'Messages per week',
  unlimited: 'Unlimited',
  voice: 'Voice messages',
  support: 'Customer support',
  supportLevels: { free: 'Community', basic: 'Email', premium: 'Priority', platinum: 'Priority' },
  priority: 'Priority response',
  yes: 'Included',
  no: 'Not included',
  scroll: 'Plans side by side; scroll to see all of them',
} as const;

/** SPEC 2, 7 and 8, Messaging Platform card. */
export const platformWords = {
  title: 'Messaging Platform',
  options: {
    whatsapp: `Receive messages via ${app}`,
    web: 'Chat through the web interface',
  },
  openChat: 'Open the chat',
  update: 'Update Platform',
  updating: 'Updating...',
  updated: 'Platform updated',
  updatedTo: {
    whatsapp: `You will now receive messages via ${app}`,
    web: 'You will now receive messages via Web',
  },
  failedTitle: 'Update failed',
  failed: 'Failed to update platform preference',
} as const;

/** SPEC 2, 7 and 8, Account Management card. */
export const managementWords = {
  title: 'Account Management',
  upgrade: 'Upgrade Your Plan',
  upgradeHint: 'Access our plans and upgrade to unlock more features',
  cancellation: 'Manage Cancellation',
  cancellationHint: 'Reactivate your subscription or change your plan',
  scheduled: 'Manage Scheduled Plan',
  scheduledHint: 'Modify or cancel your scheduled plan',
  subscription: 'Manage Subscription',
  subscriptionHint: 'Update payment method, change plan, or cancel subscription',
  inactiveHint: 'View billing history and manage payment methods',
  opening: 'Opening...',
  billing: 'Billing Management',
  openingPortal: 'Opening Portal...',
  billingHint: 'Access payment details, invoices, and subscription info',
  subscriptionOpened: 'Subscription Management Opened',
  subscriptionOpenedText: 'Check your new tab to manage your subscription',
  subscriptionRedirect: 'Redirecting to Subscription Management',
  openingHere: 'Opening in current tab...',
  billingOpened: 'Billing Management Opened',
  billingOpenedText: 'Check your new tab to manage billing details',
  billingRedirect: 'Redirecting to Billing Management',
  noPortal: 'Failed to create portal session',
  subscriptionFailed: 'Failed to open subscription management',
  billingFailed: 'Failed to open billing management',
  deleteAccount: 'Delete Account',
  deleteHint: 'Erase your account and everything in it',
  deleteTitle: 'Are you absolutely sure?',
  deleteText:
    'This action cannot be undone. This will permanently delete your account, all your chat history, and cancel any active subscriptions.',
  cancel: 'Cancel',
  deleted: 'Account deleted successfully',
  deleteFailed: 'Failed to delete account',
} as const;

/** Ours: download and sessions in the Account Management card. */
export const privacyWords = {
  download: 'Download My Data',
  downloading: 'Preparing...',
  downloadHint: 'Everything we keep about you, as a file',
  downloadFailed: 'Failed to download your data',
  sessions: 'Sessions',
  sessionsHint: 'Where you are signed in',
  sessionsLoading: 'Loading sessions...',
  sessionsFailed: 'Failed to load your sessions',
  current: 'This device',
  other: 'Another device',
  signedIn: (date: string) => `Signed in on ${date}`,
  lastSeen: (date: string) => `Last seen on ${date}`,
  end: 'End session',
  ended: 'Session ended',
  endFailed: 'Failed to end the session',
  everywhere: 'Log out everywhere',
  everywhereFailed: 'Failed to log out everywhere',
} as const;

/** Ours; the specification does not show the debug card. */
export const debugWords = {
  title: 'Debug',
  session: 'Session',
  token: 'Token ends',
  stream: 'Usage stream',
  totals: 'Totals received',
  status: 'Subscription status',
  tier: 'Tier',
  accountStatus: 'Account status',
  build: 'Build',
  api: 'API',
  loggedIn: 'logged in',
  sameOrigin: 'same origin',
  unknown: 'unknown',
  never: 'never',
} as const;
