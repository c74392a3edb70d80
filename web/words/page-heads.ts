import { brand } from '#contract/brand';

/** Whether the served HTML holds the page, its version for guests, the shell of a private page, or nothing. */
export type Prerendering = 'page' | 'guest-page' | 'shell' | 'none';
export type PageHead = { title: string; description: string; isPublic: boolean; prerendering: Prerendering };

const { name, companion, messagingApp } = brand;
const publicPage = (title: string, description: string): PageHead => ({
  title: `${title} | ${name}`,
  description,
  isPublic: true,
  prerendering: 'page',
});
const privatePage = (title: string, description: string, prerendering: Prerendering = 'none'): PageHead => ({
  ...publicPage(title, description),
  isPublic: false,
  prerendering,
});

/** Title and description of every page; search engines see only the public ones. */
export const pages: Record<string, PageHead> = {
  '/': {
    title: `${name}: ${brand.tagline}`,
    description: `${companion} is an AI companion for emotional support, self-help and conflict resolution. Chat by text or voice on ${messagingApp}, around the clock, with nothing to download.`,
    isPublic: true,
    prerendering: 'page',
  },
  '/plans': publicPage(
    'Choose Your Plan',
    `Four plans for ${companion}: start free with 5 messages a week, or choose Basic, Premium or Platinum with voice replies. Cancel any time.`,
  ),
  '/contact': publicPage('Contact', `Write to the people behind ${name}: a form, an e-mail address and our hours.`),
  '/help-now': publicPage(
    'Get help now',
    'Crisis lines by country: numbers you can text or call, and chats. No account needed.',
  ),
  '/safety': publicPage(
    'Safety',
    `What ${companion} does when somebody writes of suicide or self-harm, and its limits.`,
  ),
  '/terms': publicPage(
    'Terms and Conditions',
    `The terms under which you use ${name}: plans, weekly billing, cancellation and what ${companion} is not.`,
  ),
  '/privacy': publicPage(
    'Privacy Policy',
    `How ${name} treats your messages and your data: encryption, no human review, and your rights.`,
  ),
  '/login': {
    ...publicPage('Log in', `Log in to ${name} with your phone number and a one-time code.`),
    prerendering: 'guest-page',
  },
  '/account': privatePage('My Account', 'Your plan, your usage and your settings.', 'shell'),
  '/chat': privatePage(`Chat with ${companion}`, `Your conversation with ${companion}.`, 'shell'),
  '/pending-approval': privatePage('Account Pending Approval', 'Your account is waiting for approval.'),
  '/payment-success': privatePage('Payment Successful', 'Your payment was received.'),
  '/payment-canceled': privatePage('Payment Not Completed', 'Your payment was not completed.'),
  '/auth/stripe-success': privatePage('Processing', 'Your changes are being processed.'),
  '/payment-details-saved': privatePage('Payment Details Saved', 'Your payment method was saved.'),
  '/activate-trial': privatePage('Activate Your Trial', 'Your trial is being activated.'),
};

export const notFoundHead: PageHead = {
  ...publicPage('Page Not Found', 'This page does not exist.'),
  isPublic: false,
};

/** The head of a path; the 404 page's for an unknown path. */
export function pageHead(path: string): PageHead {
  return pages[path === '/' ? path : path.replace(/\/$/, '')] ?? notFoundHead;
}
