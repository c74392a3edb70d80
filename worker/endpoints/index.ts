import type { EndpointName } from '../contract/endpoints.ts';
import { botRoute, publicRoute, supportRoute, webhookRoute, userRoute, type Route } from '../http/route.ts';
import { botApprovals, botContacts, botEntitlements, botReferrals, botTrials, botUsage } from './bot.ts';
import { botMessages, botTranscripts, botTyping, botVoice } from './bot-chat.ts';
import { chatStream, streamTicket, usageStream } from './streams.ts';
import { clearChat, deleteChatConsent, getChat, getVoice, putChatConsent, sendMessage, sendVoice } from './chat.ts';
import {
  cancelPlan,
  createPortalSession,
  createSubscriptionUpdateSession,
  giveCancelReason,
  resumePlan,
  verifyCheckoutSession,
} from './billing.ts';
import {
  deleteMe,
  deletePush,
  endSession,
  supportErase,
  supportExport,
  exportMe,
  getMe,
  getPlatform,
  getPush,
  getSessions,
  putPlatform,
  putPush,
} from './user.ts';
import { getCountry, getSafety, health, openapi } from './service.ts';
import { contactState, logout, requestOtp, verifyExternalToken, verifyOtp, verifyTrialToken } from './auth.ts';
import { stripeWebhook, verifyWhatsappWebhook, whatsappWebhook } from './webhooks.ts';

/** Every endpoint of the contract with its handler. */
export const routes: { [Name in EndpointName]: Route<Name> } = {
  botApprovals: botRoute('botApprovals', botApprovals),
  botContacts: botRoute('botContacts', botContacts),
  botEntitlements: botRoute('botEntitlements', botEntitlements),
  botMessages: botRoute('botMessages', botMessages),
  botReferrals: botRoute('botReferrals', botReferrals),
  botTranscripts: botRoute('botTranscripts', botTranscripts),
  botTrials: botRoute('botTrials', botTrials),
  botTyping: botRoute('botTyping', botTyping),
  botUsage: botRoute('botUsage', botUsage),
  botVoice: botRoute('botVoice', botVoice),
  cancelPlan: userRoute('cancelPlan', cancelPlan),
  chatStream: userRoute('chatStream', chatStream),
  clearChat: userRoute('clearChat', clearChat),
  contactState: publicRoute('contactState', contactState),
  createPortalSession: userRoute('createPortalSession', createPortalSession),
  createSubscriptionUpdateSession: userRoute('createSubscriptionUpdateSession', createSubscriptionUpdateSession),
  deleteChatConsent: userRoute('deleteChatConsent', deleteChatConsent),
  deleteMe: userRoute('deleteMe', deleteMe),
  deletePush: userRoute('deletePush', deletePush),
  getChat: userRoute('getChat', getChat),
  endSession: userRoute('endSession', endSession),
  exportMe: userRoute('exportMe', exportMe),
  getCountry: publicRoute('getCountry', getCountry),
  getMe: userRoute('getMe', getMe),
  getPlatform: userRoute('getPlatform', getPlatform),
  getPush: userRoute('getPush', getPush),
  getSafety: publicRoute('getSafety', getSafety),
  getSessions: userRoute('getSessions', getSessions),
  getVoice: userRoute('getVoice', getVoice),
  giveCancelReason: userRoute('giveCancelReason', giveCancelReason),
  health: publicRoute('health', health),
  logout: userRoute('logout', logout),
  openapi: publicRoute('openapi', openapi),
  putChatConsent: userRoute('putChatConsent', putChatConsent),
  putPlatform: userRoute('putPlatform', putPlatform),
  putPush: userRoute('putPush', putPush),
  requestOtp: publicRoute('requestOtp', requestOtp),
  resumePlan: userRoute('resumePlan', resumePlan),
  sendMessage: userRoute('sendMessage', sendMessage),
  sendVoice: userRoute('sendVoice', sendVoice),
  streamTicket: userRoute('streamTicket', streamTicket),
  supportErase: supportRoute('supportErase', supportErase),
  supportExport: supportRoute('supportExport', supportExport),
  stripeWebhook: webhookRoute('stripeWebhook', stripeWebhook),
  usageStream: userRoute('usageStream', usageStream),
  verifyCheckoutSession: userRoute('verifyCheckoutSession', verifyCheckoutSession),
  verifyExternalToken: publicRoute('verifyExternalToken', verifyExternalToken),
  verifyOtp: publicRoute('verifyOtp', verifyOtp),
  verifyTrialToken: publicRoute('verifyTrialToken', verifyTrialToken),
  verifyWhatsappWebhook: publicRoute('verifyWhatsappWebhook', verifyWhatsappWebhook),
  whatsappWebhook: webhookRoute('whatsappWebhook', whatsappWebhook),
};
