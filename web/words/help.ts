import { brand } from '#contract/brand';
import type { HelpLanguage } from '#contract/help-line';

const { name, companion, messagingApp: app } = brand;

/** Ours: the page of crisis lines and the help panel. A clinician should review every change. */
export const helpWords = {
  title: 'Get help now',
  lead: 'People you can write to or call. You do not need an account.',
  emergency: 'If you or someone near you is in danger, call your local emergency number now.',
  notCrisis: `${name} is an AI and not a crisis service. It cannot call anybody for you.`,
  country: 'Country',
  choose: 'Choose a country',
  countryHint: 'Short numbers work only inside their country. If you are travelling, choose where you are now.',
  noLine: 'We have no confirmed number for this country.',
  busy: 'Many lines are busy. If nobody answers, try again or use another one.',
  elsewhere: 'No number for your country, or you want another one? Look for one at',
  finder: { name: 'findahelpline.com', href: 'https://findahelpline.com/' },
  all: 'Crisis lines by country',
  safety: `How ${name} handles a crisis`,
} as const;

/** Ours: the channels of a line. */
export const helpLineWords = {
  text: 'Text',
  chat: 'Chat:',
  whatsApp: app,
  call: 'Call',
  always: 'around the clock',
  daily: (from: number, to: number) => `every day ${from}:00 to ${to}:00, local time`,
  free: 'free',
  charged: 'the call costs money',
  languages: (list: string) => `Languages: ${list}`,
  languagesAtTimes: (list: string) => `At some hours also: ${list}`,
  source: (date: string) => `Source: ${date}`,
} as const;

/** Ours. */
export const languageNames: Record<HelpLanguage, string> = {
  am: 'Amharic',
  ar: 'Arabic',
  cs: 'Czech',
  de: 'German',
  el: 'Greek',
  en: 'English',
  es: 'Spanish',
  et: 'Estonian',
  fi: 'Finnish',
  fil: 'Filipino',
  fr: 'French',
  he: 'Hebrew',
  hu: 'Hungarian',
  id: 'Indonesian',
  is: 'Icelandic',
  it: 'Italian',
  ja: 'Japanese',
  ko: 'Korean',
  lb: 'Luxembourgish',
  ms: 'Malay',
  nl: 'Dutch',
  no: 'Norwegian',
  pl: 'Polish',
  pt: 'Portuguese',
  ru: 'Russian',
  ta: 'Tamil',
  th: 'Thai',
  uk: 'Ukrainian',
  vi: 'Vietnamese',
  zh: 'Chinese',
};

/** Ours: the response to messages about self-harm, and its limits. A clinician should review every change. */
export const safetyWords = {
  title: 'Safety',
  lead: `What ${companion} does when somebody writes of suicide or self-harm, and what it cannot do.`,
  help: 'Get help now',
  sections: [
    {
      title: `What ${companion} is`,
      points: [
        `${companion} is an AI, not a person. Software writes its replies, and they can be wrong.`,
        `${companion} is for adults. It may not be suitable for some minors.`,
        `${name} is not a crisis service, and it does not replace medical or psychological care.`,
      ],
    },
    {
      title: 'When somebody writes of suicide or self-harm',
      points: [
        `${companion} is built to notice it, and marks its reply as a crisis reply.`,
        'In the chat on this site, a crisis reply opens the help panel with crisis lines and the way to all others. You can open the panel yourself at any time.',
        `In ${app} no panel can open. This site’s page “Get help now” works on every phone.`,
      ],
    },
    {
      title: 'Help is never metered',
      points: [
        'The page “Get help now” needs no account, no plan and no messages left.',
        'For 24 hours after a crisis reply, the chat on this site accepts your messages even when your messages of the week are used up.',
      ],
    },
    {
      title: `What ${companion} cannot do`,
      points: [
        `Nobody at ${name} reads conversations as they are written. Nobody is watching, so nobody can step in.`,
        `${name} does not call an emergency service, a crisis line, your family or anybody else for you.`,
        `${companion} can miss what you mean, or take something else for a crisis.`,
        'A reply can come late or not at all. If you need a person now, do not wait for it.',
      ],
    },
    {
      title: 'Where the numbers come from',
      points: [
        'Each number stands on a page of its provider or of a government, or in two independent sources. We show the date of the newest one.',
        'Where no source tells the hours or the cost, we say nothing about them.',
        'A country without a confirmed number has none here. We never show the number of another country instead.',
        'The numbers are part of the page. It does not ask anybody for them, so nobody learns which one you look at.',
      ],
    },
  ],
  wrong: 'A number does not work, or a reply should have been different?',
  contact: 'Write to us',
} as const;
