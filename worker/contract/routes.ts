export type Access = 'public' | 'user' | 'bot' | 'stripe' | 'whatsapp' | 'support';

export type RouteAddress = {
  access: Access;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: `/${string}`;
};

export const pageRoutes = {
  requestOtp: {
    access: 'public',
    method: 'POST',
    path: '/api/auth/request-otp',
  },
  codeState: { access: 'public', method: 'POST', path: '/api/auth/code-state' },
  contactState: {
    access: 'public',
    method: 'POST',
    path: '/api/auth/contact-state',
  },
  verifyOtp: { access: 'public', method: 'POST', path: '/api/auth/verify-otp' },
  verifyExternalToken: {
    access: 'public',
    method: 'POST',
    path: '/api/auth/verify-external-token',
  },
  verifyTrialToken: {
    access: 'public',
    method: 'POST',
    path: '/auth/verify-trial-token',
  },
  logout: { access: 'user', method: 'POST', path: '/api/auth/logout' },
  getMe: { access: 'user', method: 'GET', path: '/api/user/me' },
  deleteMe: { access: 'user', method: 'DELETE', path: '/api/user/me' },
  getPlatform: { access: 'user', method: 'GET', path: '/api/user/platform' },
  putPlatform: { access: 'user', method: 'PUT', path: '/api/user/platform' },
  exportMe: { access: 'user', method: 'GET', path: '/api/user/export' },
  getPush: { access: 'user', method: 'GET', path: '/api/user/push' },
  putPush: { access: 'user', method: 'PUT', path: '/api/user/push' },
  deletePush: { access: 'user', method: 'DELETE', path: '/api/user/push' },
  beginPhoneChange: { access: 'user', method: 'POST', path: '/api/user/phone' },
  verifyPhoneChange: {
    access: 'user',
    method: 'POST',
    path: '/api/user/phone/verify',
  },
  getSessions: { access: 'user', method: 'GET', path: '/api/user/sessions' },
  endSession: {
    access: 'user',
    method: 'DELETE',
    path: '/api/user/sessions/:id',
  },
  createSubscriptionUpdateSession: {
    access: 'user',
    method: 'POST',
    path: '/api/billing/create-subscription-update-session',
  },
  createPortalSession: {
    access: 'user',
    method: 'POST',
    path: '/api/billing/create-portal-session',
  },
  getSubscription: {
    access: 'user',
    method: 'GET',
    path: '/api/billing/subscription',
  },
  cancelPlan: { access: 'user', method: 'POST', path: '/api/billing/cancel' },
  resumePlan: { access: 'user', method: 'POST', path: '/api/billing/resume' },
  giveCancelReason: {
    access: 'user',
    method: 'POST',
    path: '/api/billing/cancel-reason',
  },
  verifyCheckoutSession: {
    access: 'user',
    method: 'POST',
    path: '/api/billing/verify-and-update-checkout-session',
  },
  getWithdrawal: {
    access: 'user',
    method: 'GET',
    path: '/api/billing/withdrawal',
  },
  withdraw: { access: 'user', method: 'POST', path: '/api/billing/withdrawal' },
  objectToWithdrawal: {
    access: 'user',
    method: 'POST',
    path: '/api/billing/withdrawal/objection',
  },
  getWithdrawalForm: {
    access: 'public',
    method: 'GET',
    path: '/api/withdrawals',
  },
  stateWithdrawal: {
    access: 'public',
    method: 'POST',
    path: '/api/withdrawals',
  },
  getWithdrawalReceipt: {
    access: 'public',
    method: 'GET',
    path: '/api/withdrawals/:id/receipt',
  },
  streamTicket: {
    access: 'user',
    method: 'POST',
    path: '/api/user/stream-ticket',
  },
  usageStream: { access: 'user', method: 'GET', path: '/api/user/usage-stream' },
  getChat: { access: 'user', method: 'GET', path: '/api/user/chat' },
  clearChat: { access: 'user', method: 'DELETE', path: '/api/user/chat' },
  sendMessage: {
    access: 'user',
    method: 'POST',
    path: '/api/user/chat/messages',
  },
  sendVoice: { access: 'user', method: 'POST', path: '/api/user/chat/voice' },
  getVoice: { access: 'user', method: 'GET', path: '/api/user/chat/voice/:id' },
  chatStream: { access: 'user', method: 'GET', path: '/api/user/chat-stream' },
  putChatConsent: {
    access: 'user',
    method: 'PUT',
    path: '/api/user/chat/consent',
  },
  deleteChatConsent: {
    access: 'user',
    method: 'DELETE',
    path: '/api/user/chat/consent',
  },
  getCountry: { access: 'public', method: 'GET', path: '/api/country' },
  getSafety: { access: 'public', method: 'GET', path: '/api/safety' },
} as const satisfies Record<string, RouteAddress>;

export const botRoutes = {
  botMessages: { access: 'bot', method: 'POST', path: '/api/bot/messages' },
  botTyping: { access: 'bot', method: 'POST', path: '/api/bot/typing' },
  botVoice: { access: 'bot', method: 'POST', path: '/api/bot/voice' },
  botTranscripts: {
    access: 'bot',
    method: 'POST',
    path: '/api/bot/transcripts',
  },
  botContacts: { access: 'bot', method: 'POST', path: '/api/bot/contacts' },
  botUsage: { access: 'bot', method: 'POST', path: '/api/bot/usage' },
  botEntitlements: {
    access: 'bot',
    method: 'POST',
    path: '/api/bot/entitlements',
  },
  botApprovals: { access: 'bot', method: 'POST', path: '/api/bot/approvals' },
  botTrials: { access: 'bot', method: 'POST', path: '/api/bot/trials' },
  botReferrals: { access: 'bot', method: 'POST', path: '/api/bot/referrals' },
} as const satisfies Record<string, RouteAddress>;

export const serviceRoutes = {
  stripeWebhook: {
    access: 'stripe',
    method: 'POST',
    path: '/api/webhooks/stripe',
  },
  verifyWhatsappWebhook: {
    access: 'public',
    method: 'GET',
    path: '/api/webhooks/whatsapp',
  },
  whatsappWebhook: {
    access: 'whatsapp',
    method: 'POST',
    path: '/api/webhooks/whatsapp',
  },
  openapi: { access: 'public', method: 'GET', path: '/api/openapi.json' },
  health: { access: 'public', method: 'GET', path: '/api/health' },
} as const satisfies Record<string, RouteAddress>;

/** The token names the account. */
export const supportRoutes = {
  supportErase: {
    access: 'support',
    method: 'DELETE',
    path: '/api/support/account',
  },
  supportMove: {
    access: 'support',
    method: 'POST',
    path: '/api/support/account/phone',
  },
  supportExport: {
    access: 'support',
    method: 'GET',
    path: '/api/support/account',
  },
  supportStream: {
    access: 'support',
    method: 'GET',
    path: '/api/support/stream',
  },
} as const satisfies Record<string, RouteAddress>;

export type PageCall = keyof typeof pageRoutes;
