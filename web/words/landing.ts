import { brand } from '#contract/brand';

const { name, companion, messagingApp: app } = brand;

/** SPEC 1 (headline, buttons, card titles, section headings); the other sentences are ours. */
export const landingWords = {
  headline: name,
  subline: brand.tagline,
  lead: `Someone to talk to when a day gets heavy. ${companion} listens, helps you sort your thoughts and find your own next step, in your language, at any hour.`,
  tryIt: `Try ${companion} on ${app} (Free)`,
  choosePlan: 'Choose Your Plan',
  reassurance: ['No app download needed', 'Fully encrypted', 'Several languages'],
  sceneLabel: `A conversation with ${companion}`,
  scene: [
    { from: 'user', text: 'I keep replaying that argument with my sister.' },
    { from: 'companion', text: 'That sounds tiring. Which moment comes back the most?' },
    { from: 'user', text: 'When I raised my voice.' },
    { from: 'companion', text: 'Let us look at it gently: what did you need right then?' },
  ],
  reasonsTitle: `Why ${companion}?`,
  reasonsLead: 'Support that fits into an ordinary day, and stays between the two of you.',
  reasons: [
    {
      icon: 'voice',
      title: 'Text & Voice Support',
      text: 'Type when you are on the bus, talk when your hands are full. Voice replies come with every paid plan.',
    },
    {
      icon: 'lock',
      title: 'Privacy First',
      text: 'Your conversations are fully encrypted. Nobody reads along, and you can delete everything at any time.',
    },
    {
      icon: 'path',
      title: 'CBT-Based Approach',
      text: 'Questions and exercises drawn from cognitive behavioural therapy help you see a thought from more than one side.',
    },
    {
      icon: 'moon',
      title: 'Always Available',
      text: 'At three in the morning or between two meetings: an answer is there, 24 hours a day, 7 days a week.',
    },
  ],
  stepsTitle: 'How it begins',
  steps: [
    {
      title: 'Say hello',
      text: `Write to ${companion} on ${app}. There is nothing to install and no form to fill in.`,
    },
    {
      title: 'Talk it through',
      text: 'Share what is on your mind, by text or voice. Self-help, emotional support, a conflict to untangle.',
    },
    {
      title: 'Keep going at your pace',
      text: 'Start with free messages every week and choose a plan when you want more room.',
    },
  ],
  testimonialsTitle: 'What Our Users Say',
  testimonialsLabel: 'Stories from people who use it',
  testimonials: [
    {
      text: 'I used to lie awake rehearsing conversations. Now I write them down here first, and mostly I fall asleep.',
      who: 'Marta',
      about: 'teacher',
    },
    {
      text: 'It never tells me what to do. It asks the question I was avoiding, and somehow that is enough.',
      who: 'Daniel',
      about: 'nurse on night shifts',
    },
    {
      text: 'After our move I had nobody to talk to in my own language. A voice message on the way home changed my weeks.',
      who: 'Aiyana',
      about: 'student abroad',
    },
  ],
  carousel: 'carousel',
  previous: 'Previous story',
  next: 'Next story',
  storyOf: (position: number, count: number) => `Story ${position} of ${count}`,
  plansTitle: 'Flexible Plans to Fit Your Needs',
  plansLead: 'Begin for free. Change or cancel whenever you like.',
  teasers: {
    free: { text: 'Meet each other', features: ['A few messages every week', 'Text conversations'] },
    basic: { text: 'A regular check-in', features: ['Several messages on most days', 'Voice replies'] },
    premium: {
      text: 'Room to go deeper',
      features: ['Long conversations, all week', 'Voice replies', 'Priority support'],
    },
    platinum: {
      text: 'Always by your side',
      features: ['The widest weekly allowance', 'Voice replies', 'Answered first'],
    },
  },
  managePlan: 'Manage Plan',
  getStarted: 'Get Started',
  viewAllPlans: 'View All Plans',
  callToActionTitle: 'You do not have to carry it alone.',
  callToActionText: 'The first messages are free, every week.',
  callToActionLink: `Say hello to ${companion}`,
} as const;
