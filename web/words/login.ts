import { brand } from '#contract/brand';

const { name, companion, messagingApp: app } = brand;

/** SPEC 2, 4 and 8; titles, labels and hints are ours. */
export const loginWords = {
  title: `Log in to ${name}`,
  lead: `Use the number with which you write to ${companion}. We send you a code, no password needed.`,
  phone: 'Phone number',
  phoneHint: 'With country code, for example +1 555 123 4567',
  sendCode: 'Send Verification Code',
  resendCode: 'Resend Verification Code',
  sending: 'Sending...',
  codeTitle: 'Enter your code',
  codeLead: (phone: string) => `We sent a 6-digit code to ${phone} on ${app}.`,
  code: 'Verification code',
  codeHint: 'The code is valid for 5 minutes. You can paste it.',
  verify: 'Verify Code',
  verifying: 'Verifying...',
  wait: (seconds: number) => `Wait ${seconds}s to try again`,
  locked: 'Too many failed attempts. Please wait 30 seconds.',
  unlocked: 'You can try again now.',
  changePhone: 'Change phone number',
  noCode: `No code yet? Check that ${app} is open and online on the phone with this number, and that the number is right. Then change the number or send the code again.`,
  contactTitle: `We haven't seen this number on ${app} yet...`,
  contactText: (phone: string) =>
    `To protect you, codes go only to numbers that have written to ${companion}. Send a first message on ${app} from ${phone}, then come back and log in.`,
  contactLink: `Message ${companion} on ${app}`,
  greeting: (digits: string) => `Hi ${companion}! I would like to get started. My number is ${digits}.`,
  differentNumber: 'Try a Different Number',
  plan: (plan: string) => `You chose the ${plan} plan. Log in and it is waiting in your account.`,
  signingIn: 'Signing you in...',
  codeSentTitle: 'Code sent!',
  codeSent: 'Check your messages for the verification code',
  sendFailed: 'Failed to send verification code. Please try again.',
  requestFailed: 'Failed to request OTP',
  networkError: 'Network error. Please check your connection and try again.',
  verificationFailed: 'Verification failed',
  invalidCode: 'Invalid code. Please try again.',
  success: 'Login successful!',
  issueTitle: 'Login Issue',
  issue: (status: string) => `Account status: ${status}. Please contact support.`,
  profileFailed: 'Login successful, but failed to fetch user profile.',
  unexpected: 'An unexpected error occurred during login.',
  agree: 'By logging in you accept our {terms} and {privacy}.',
} as const;

/** Ours: an external token over the session of another number. */
export const switchWords = {
  title: 'Switch account?',
  text: (current: string, other: string) =>
    `You are signed in as ${current}. The link that you opened is for ${other}. If you switch, ${current} is signed out here.`,
  textWithoutNumber: (current: string) =>
    `You are signed in as ${current}. The link that you opened is for another number. If you switch, ${current} is signed out here.`,
  stay: 'Stay signed in',
  confirm: 'Switch account',
} as const;
