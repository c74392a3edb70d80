import { brand } from '#contract/brand';

const { companion } = brand;

/** The notice that people accept before they write. A new version asks everybody again. */
export const consentVersion = '2026-11-21';

/** Ours: the conversation on the web. */
export const chatWords = {
  title: `Chat with ${companion}`,
  label: 'AI companion',
  loading: 'Loading your conversation...',
  loadFailed: 'Your conversation could not be loaded. Please check your internet connection.',
  tryAgain: 'Try again',
  help: 'Get help now',
  closeHelp: 'Close',
  options: 'Options of the conversation',
  empty: `Write the first message. ${companion} answers here.`,
  notice: `${companion} is an AI, not a person, and not for emergencies.`,
  messages: 'Messages',
  earlier: 'Earlier messages',
  live: 'New messages',
  loadOlder: 'Show older messages',
  loadingOlder: 'Loading older messages...',
  newMessages: (count: number) => (count === 1 ? '1 new message' : `${count} new messages`),
  writing: `${companion} is writing`,
  youSaid: 'You said',
  companionSaid: `${companion} said`,
  today: 'Today',
  yesterday: 'Yesterday',
  offline: 'You are offline. New messages appear as soon as you are connected again.',
  reconnecting: 'Connecting again...',
  disconnected: 'New messages no longer appear by themselves.',
  connect: 'Connect again',
  documentTitle: (count: number, title: string) => `(${count}) ${title}`,
} as const;

/** Ours: the state of a message that the person wrote. */
export const messageStateWords = {
  sending: 'Sending...',
  sent: 'Sent',
  delivered: 'Delivered',
  failed: 'Not delivered',
  unsent: 'Not sent',
  sendAgain: 'Send again',
} as const;

/** Ours: the field. */
export const composerWords = {
  field: `Message to ${companion}`,
  placeholder: 'Write a message',
  send: 'Send',
  hint: 'Enter sends. Shift and Enter start a new line.',
  empty: 'Please write a message.',
  tooLong: 'Messages can have up to 4,000 characters.',
  left: (count: number) => (count === 1 ? '1 character left' : `${count} characters left`),
  over: (count: number) => (count === 1 ? '1 character too many' : `${count} characters too many`),
  used: (used: number, limit: number) => `${used} / ${limit} messages used this week`,
  spent: "You have used this week's messages.",
  plans: 'See the plans',
  tooFast: 'You are writing faster than messages can be delivered. Please wait a moment, then send again.',
  failed: 'Your message could not be sent. Please try again.',
} as const;

/** Ours: the menu of the conversation. */
export const clearingWords = {
  clear: 'Clear conversation',
  clearTitle: 'Clear the conversation?',
  clearText: 'This deletes every message here and at the companion. It cannot be undone.',
  cleared: 'Conversation cleared',
  clearFailed: 'The conversation could not be cleared. Please try again.',
  withdraw: 'Withdraw consent',
  withdrawTitle: 'Withdraw your consent?',
  withdrawText: 'This deletes the conversation. You can start a new one later if you agree again.',
  withdrawn: 'Consent withdrawn',
  withdrawFailed: 'Your consent could not be withdrawn. Please try again.',
  cancel: 'Cancel',
} as const;
