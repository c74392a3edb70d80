import { brand } from '#contract/brand';
import type { LegalText } from './legal-document.tsx';

const { name, companion, company, messagingApp, supportEmail } = brand;

export const privacyText: LegalText = {
  title: 'Privacy Policy',
  intro: `What you tell ${companion} is personal. This page says plainly what ${company} (“we”) does with it when you use ${name}, what we do not do, and what you can ask of us.`,
  sections: [
    {
      title: 'In short',
      blocks: [
        [
          'Your conversations are encrypted, on the way and where they are stored.',
          'No human reviews your conversations.',
          'Our AI partner processes de-identified messages only, and may not use them to train its models.',
          'We do not sell your data and show no advertising.',
          'You can delete your account, and everything in it, at any time.',
        ],
      ],
    },
    {
      title: 'What we collect',
      blocks: [
        [
          'Your phone number, to know that it is you and to reach you.',
          'Your messages, text and voice, to answer them and to keep the thread of a conversation.',
          'How many messages you use each week, your plan and its dates, and your preferred platform.',
          'Technical records, such as the time of a request and a shortened network address, to keep the service safe. They never hold what you wrote.',
        ],
        'Payments are handled by Stripe. We learn whether a payment succeeded; card numbers never reach us.',
      ],
    },
    {
      title: 'Encryption',
      blocks: [
        `Messages travel encrypted between your device, ${messagingApp} and us, and are encrypted again where they are stored. Each conversation on this site has a key of its own; deleting the conversation destroys the key. The companion’s service and our AI partner must read a message to answer it. Login codes and link tokens are stored only in a form from which they cannot be read back.`,
      ],
    },
    {
      title: 'No human review',
      blocks: [
        'Nobody at our company reads your conversations, for quality, for training or out of curiosity. If you ask us for help with a particular message, we look only at what you send us yourself.',
      ],
    },
    {
      title: 'How the AI works with your words',
      blocks: [
        'Answers are written by an AI model that a partner runs for us. Before a message reaches the partner, we remove what identifies you, such as your phone number. The partner processes these de-identified messages to produce the answer, does not learn who you are, and is bound by contract to do nothing else with them.',
      ],
    },
    {
      title: 'Why we may use your data',
      blocks: [
        'To provide the service that you asked for, to bill it, to keep it safe from abuse, and to meet our legal duties. Where the law asks for your consent to what your messages reveal about your health, we ask for it before your first message in the chat on this site. You withdraw it there, under “Options of the conversation”: the conversation is then deleted. Deleting your account withdraws it too.',
      ],
    },
    {
      title: 'Who else receives data',
      blocks: [
        'Only those who help us run the service, each only what it needs:',
        [
          `${messagingApp}, to carry messages and login codes;`,
          'our AI partner, for de-identified messages;',
          'Stripe, for payments;',
          'Cloudflare, which runs this site and stores the conversation on this site encrypted, and Turso, our database.',
        ],
        'We hand data to authorities only where the law compels us, and then no more than it compels.',
      ],
    },
    {
      title: 'How long we keep it',
      blocks: [
        'Messages on this site are kept for 90 days. Everything else is kept as long as your account exists. If nobody uses an account without a subscription for two years, we write to you and delete it 30 days later.',
        'When you delete your account, your profile, your usage and your chat history are erased, and any subscription is cancelled. Our providers can restore their storage for up to 30 days (Cloudflare) and 90 days (Turso); after a restore we erase what you had deleted again. Payment records stay as long as tax law requires.',
      ],
    },
    {
      title: 'Your rights',
      blocks: [
        'Wherever you live, you may ask us to:',
        [
          'show you the data that we hold about you, and give you a copy;',
          'correct what is wrong;',
          'erase it;',
          'limit or stop a use of it;',
          'hand it over in a common format.',
        ],
        `On your account page you can download your data, end your sessions and erase everything yourself. For the rest write to ${supportEmail}; we answer within 30 days. You may also complain to your data protection authority.`,
      ],
    },
    {
      title: 'Cookies and your browser',
      blocks: [
        'This site sets no cookies and loads nothing from third parties. Your browser’s local storage keeps your session after you log in, and your choice of colours; logging out removes the session.',
      ],
    },
    {
      title: 'Health and children',
      blocks: [
        `${name} supports well-being and is not a medical service. It is not meant for anyone under 18, and we do not knowingly keep data of children.`,
      ],
    },
    {
      title: 'Changes and contact',
      blocks: [
        `When this policy changes in a way that matters, we tell you before it takes effect. Questions and requests: ${supportEmail}.`,
      ],
    },
  ],
};
