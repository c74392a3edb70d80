import { brand } from '#contract/brand';

export type PageHead = { title: string; description: string; isPublic: boolean };

const { name, companion, messagingApp } = brand;
const of = (title: string, description: string, isPublic = true): PageHead => ({
  title: `${title} | ${name}`,
  description,
  isPublic,
});

/** Title and description of every page; what is not public stays out of search engines. */
export const pages: Record<string, PageHead> = {
  '/': {
    title: `${name}: ${brand.tagline}`,
    description: `${companion} is an AI companion for emotional support, self-help and conflict resolution. Chat by text or voice on ${messagingApp}, around the clock, with nothing to download.`,
    isPublic: true,
  },
  '/plans': of(
    'Choose Your Plan',
    `Four plans for ${companion}: start free with 5 messages a week, or choose Basic, Premium or Platinum with voice replies. Cancel any time.`,
  ),
  '/contact': of('Contact', `Write to the people behind ${name}: a form, an e-mail address and our hours.`),
  '/terms': of(
    'Terms and Conditions',
    `The terms under which you use ${name}: plans, weekly billing, cancellation and what ${companion} is not.`,
  ),
  '/privacy': of(
    'Privacy Policy',
    `How ${name} treats your messages and your data: encryption, no human review, and your rights.`,
  ),
  '/login': of('Log in', `Log in to ${name} with your phone number and a one-time code.`),
  '/account': of('My Account', 'Your plan, your usage and your settings.', false),
  '/pending-approval': of('Account Pending Approval', 'Your account is waiting for approval.', false),
  '/payment-success': of('Payment Successful', 'Your payment was received.', false),
  '/payment-canceled': of('Payment Not Completed', 'Your payment was not completed.', false),
  '/auth/stripe-success': of('Processing', 'Your changes are being processed.', false),
  '/payment-details-saved': of('Payment Details Saved', 'Your payment method was saved.', false),
  '/activate-trial': of('Activate Your Trial', 'Your trial is being activated.', false),
};

export const lostPage = of('Page Not Found', 'This page does not exist.', false);

/** The head of a path; what is unknown is a lost page. */
export function pageHead(path: string): PageHead {
  return pages[path === '/' ? path : path.replace(/\/$/, '')] ?? lostPage;
}
