import { brand } from '#contract/brand';
import type { LegalText } from './legal-document.tsx';

const { name, companion, company, messagingApp, supportEmail } = brand;

export const termsText: LegalText = {
  title: 'Terms and Conditions',
  intro: `These terms are the agreement between you and ${company} (“we”) about your use of ${name}. Please read them before you begin; by using ${name} you accept them.`,
  sections: [
    {
      title: 'What the service is',
      blocks: [
        `${name} is an AI companion that supports psychological well-being, emotional support, self-help and conflict resolution. You talk with ${companion} by text or voice on ${messagingApp} or on the web. Its answers are written by software. No human being reads or writes them.`,
        'The approach is based on cognitive behavioural therapy (CBT). It is an approach to self-help, not a treatment.',
      ],
    },
    {
      title: 'Not medical advice and not a crisis service',
      blocks: [
        `${name} is not a medical device and not a health-care provider. It does not diagnose, treat, cure or prevent any illness, and nothing that it says is medical, psychological or psychiatric advice. Never delay or stop professional help because of something you read here.`,
        `${name} cannot respond to emergencies. If you or someone else may be in danger, call your local emergency number or a crisis line at once.`,
        { text: 'Crisis lines by country:', to: '/help-now', label: 'Get help now' },
      ],
    },
    {
      title: 'Who may use it',
      blocks: [
        'You must be at least 18 years old and able to enter into this agreement.',
        'Your phone number is your identity. You log in with a one-time code that we send to it. Keep your phone and your codes to yourself; what is done with them counts as done by you. Tell us at once if you think that somebody else uses your account.',
        'We may ask new accounts to wait for approval.',
      ],
    },
    {
      title: 'Plans and weekly allowances',
      blocks: [
        'Every account has a plan: Free, Basic, Premium or Platinum. Each plan comes with a number of messages a week, shown on the plans page and in your account. Voice replies are included from Basic upward.',
        'Your allowance is reset every week. Messages that you do not use are not carried over. When the allowance is used up, the conversation pauses until the next week begins or you move to a larger plan.',
      ],
    },
    {
      title: 'Prices, billing and renewal',
      blocks: [
        'Paid plans are subscriptions. They are billed weekly in advance and renew every week, at the price shown before you buy, until you cancel. Prices are in US dollars; taxes may be added where the law requires it.',
        'Payments are taken by our payment provider, Stripe. We never see or store your card number.',
        'If a payment fails, we try again for some days. Until it succeeds no new weekly allowance begins, and in the end the account returns to the Free plan.',
        'If we change a price, we tell you beforehand. The new price applies from a later renewal, and you can cancel before it does.',
      ],
    },
    {
      title: 'Trials',
      blocks: [
        'We may offer a trial of a paid plan, once for each phone number. A trial needs no card. When it ends, your account returns to the Free plan unless you have chosen a plan to follow it.',
      ],
    },
    {
      title: 'Changing and cancelling',
      blocks: [
        'You can change or cancel your subscription at any time from your account page. A move to a larger plan takes effect at once. A move to a smaller plan, or a cancellation, takes effect at the end of the week that is paid for, and you keep your plan until then.',
        'There are no refunds or credits for partial periods, unless the law of your country gives you a right to one.',
        'Deleting your account cancels any active subscription and erases your chat history. This cannot be undone.',
      ],
    },
    {
      title: 'Privacy and encryption',
      blocks: [
        'Conversations are encrypted, and no human reviews them. To write its answers, our AI partner processes messages from which identifying details have been removed. The Privacy Policy says what we keep, why, and which rights you have.',
      ],
    },
    {
      title: 'Fair use',
      blocks: [
        'Please do not:',
        [
          'use the service to harm, harass or deceive anybody, or for anything unlawful;',
          'try to get around allowances, access controls or the safety of the service;',
          'share, sell or resell your account;',
          'copy, scrape or reverse-engineer the service, or use it to build a competing one.',
        ],
        'We may suspend or close accounts that break these rules, after a warning where that is reasonable.',
      ],
    },
    {
      title: 'Your content and ours',
      blocks: [
        'What you write stays yours. You allow us to process it as far as that is needed to provide the service. The service itself, its texts, design and software, belongs to us and those who license it to us.',
      ],
    },
    {
      title: 'Availability and liability',
      blocks: [
        'We do our best to keep the service available around the clock, but we cannot promise that it never fails, and AI can be mistaken. The service is provided as it is.',
        'As far as the law allows, we are not liable for indirect or consequential loss, and our total liability is limited to what you paid in the three months before the event. Nothing in these terms limits rights that the law does not let us limit, or liability for intent, gross negligence, or harm to life and health.',
      ],
    },
    {
      title: 'Changes and contact',
      blocks: [
        'We may change these terms. If a change matters to you, we tell you beforehand; by continuing to use the service after it takes effect you accept it.',
        `Questions? Write to ${supportEmail}.`,
      ],
    },
  ],
};
