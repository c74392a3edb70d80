import { brand } from '#contract/brand';

const { name, companion } = brand;

/** Ours: the consent step before the first message. */
export const consentWords = {
  title: 'Before you write',
  lead: `Please read this before your first message to ${companion}.`,
  points: [
    `${companion} is an AI, not a person. Its replies can be wrong.`,
    `${companion} is not for emergencies and does not replace medical or psychological care.`,
    'It may not be suitable for some minors. You must be 18 or older.',
    `What you write may concern your health. ${name} stores it encrypted for 90 days and passes it to an AI partner without your name or number.`,
    'You can clear the conversation or withdraw your consent on this page at any time.',
  ],
  adult: 'I am 18 years or older.',
  health: `I agree that ${name} processes what I write, health-related data included, to answer me.`,
  accept: 'Start the conversation',
  incomplete: 'Please tick both boxes to start.',
  failed: 'Your consent could not be saved. Please try again.',
  privacy: 'Privacy Policy',
  safety: `How ${name} handles a crisis`,
} as const;
