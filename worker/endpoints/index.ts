import type { EndpointName } from '../contract/endpoints.ts';
import { botRoute, publicRoute, webhookRoute, userRoute, type Route } from '../http/route.ts';
import { botApprovals } from './bot/bot-approvals.ts';
import { botContacts } from './bot/bot-contacts.ts';
import { botEntitlements } from './bot/bot-entitlements.ts';
import { botMessages } from './bot/bot-messages.ts';
import { botTrials } from './bot/bot-trials.ts';
import { botTyping } from './bot/bot-typing.ts';
import { botUsage } from './bot/bot-usage.ts';
import { chatStream } from './chat/chat-stream.ts';
import { clearChat } from './chat/clear-chat.ts';
import { createPortalSession } from './billing/create-portal-session.ts';
import { createSubscriptionUpdateSession } from './billing/create-subscription-update-session.ts';
import { deleteChatConsent } from './chat/delete-chat-consent.ts';
import { deleteMe } from './user/delete-me.ts';
import { getChat } from './chat/get-chat.ts';
import { endSession } from './user/end-session.ts';
import { exportMe } from './user/export-me.ts';
import { getMe } from './user/get-me.ts';
import { getPlatform } from './user/get-platform.ts';
import { getSessions } from './user/get-sessions.ts';
import { getCountry } from './service/get-country.ts';
import { health } from './service/health.ts';
import { logout } from './auth/logout.ts';
import { openapi } from './service/openapi.ts';
import { putChatConsent } from './chat/put-chat-consent.ts';
import { putPlatform } from './user/put-platform.ts';
import { requestOtp } from './auth/request-otp.ts';
import { sendMessage } from './chat/send-message.ts';
import { streamTicket } from './user/stream-ticket.ts';
import { stripeWebhook } from './webhooks/stripe-webhook.ts';
import { usageStream } from './user/usage-stream.ts';
import { verifyWhatsappWebhook } from './webhooks/verify-whatsapp-webhook.ts';
import { whatsappWebhook } from './webhooks/whatsapp-webhook.ts';
import { verifyCheckoutSession } from './billing/verify-checkout-session.ts';
import { verifyExternalToken } from './auth/verify-external-token.ts';
import { verifyOtp } from './auth/verify-otp.ts';
import { verifyTrialToken } from './auth/verify-trial-token.ts';

/** Every endpoint of the contract with its handler. */
export const routes: { [Name in EndpointName]: Route<Name> } = {
  botApprovals: botRoute('botApprovals', botApprovals),
  botContacts: botRoute('botContacts', botContacts),
  botEntitlements: botRoute('botEntitlements', botEntitlements),
  botMessages: botRoute('botMessages', botMessages),
  botTrials: botRoute('botTrials', botTrials),
  botTyping: botRoute('botTyping', botTyping),
  botUsage: botRoute('botUsage', botUsage),
  chatStream: userRoute('chatStream', chatStream),
  clearChat: userRoute('clearChat', clearChat),
  createPortalSession: userRoute('createPortalSession', createPortalSession),
  createSubscriptionUpdateSession: userRoute('createSubscriptionUpdateSession', createSubscriptionUpdateSession),
  deleteChatConsent: userRoute('deleteChatConsent', deleteChatConsent),
  deleteMe: userRoute('deleteMe', deleteMe),
  getChat: userRoute('getChat', getChat),
  endSession: userRoute('endSession', endSession),
  exportMe: userRoute('exportMe', exportMe),
  getCountry: publicRoute('getCountry', getCountry),
  getMe: userRoute('getMe', getMe),
  getPlatform: userRoute('getPlatform', getPlatform),
  getSessions: userRoute('getSessions', getSessions),
  health: publicRoute('health', health),
  logout: userRoute('logout', logout),
  openapi: publicRoute('openapi', openapi),
  putChatConsent: userRoute('putChatConsent', putChatConsent),
  putPlatform: userRoute('putPlatform', putPlatform),
  requestOtp: publicRoute('requestOtp', requestOtp),
  sendMessage: userRoute('sendMessage', sendMessage),
  streamTicket: userRoute('streamTicket', streamTicket),
  stripeWebhook: webhookRoute('stripeWebhook', stripeWebhook),
  usageStream: userRoute('usageStream', usageStream),
  verifyCheckoutSession: userRoute('verifyCheckoutSession', verifyCheckoutSession),
  verifyExternalToken: publicRoute('verifyExternalToken', verifyExternalToken),
  verifyOtp: publicRoute('verifyOtp', verifyOtp),
  verifyTrialToken: publicRoute('verifyTrialToken', verifyTrialToken),
  verifyWhatsappWebhook: publicRoute('verifyWhatsappWebhook', verifyWhatsappWebhook),
  whatsappWebhook: webhookRoute('whatsappWebhook', whatsappWebhook),
};
