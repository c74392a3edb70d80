import { headWords, siteWords } from '#words/page-heads';

/** Whether the served HTML holds the page, its version for guests, the shell of a private page, or nothing. */
export type Prerendering = 'page' | 'guest-page' | 'shell' | 'none';
export type PageHead = { title: string; description: string; isPublic: boolean; prerendering: Prerendering };

type Texts = { title: string; description: string };
const publicPage = ({ title, description }: Texts): PageHead => ({
  title: siteWords.titleOnSite(title),
  description,
  isPublic: true,
  prerendering: 'page',
});
const privatePage = (texts: Texts, prerendering: Prerendering = 'none'): PageHead => ({
  ...publicPage(texts),
  isPublic: false,
  prerendering,
});

/** Title and description of every page; search engines see only the public ones. */
export const pages: Record<string, PageHead> = {
  '/': { ...headWords.home, isPublic: true, prerendering: 'page' },
  '/plans': publicPage(headWords.plans),
  '/contact': publicPage(headWords.contact),
  '/help-now': publicPage(headWords.help),
  '/safety': publicPage(headWords.safety),
  '/cancel': { ...publicPage(headWords.cancel), prerendering: 'guest-page' },
  '/terms': publicPage(headWords.terms),
  '/privacy': publicPage(headWords.privacy),
  '/login': { ...publicPage(headWords.login), prerendering: 'guest-page' },
  '/account': privatePage(headWords.account, 'shell'),
  '/chat': privatePage(headWords.chat, 'shell'),
  '/pending-approval': privatePage(headWords.pending),
  '/payment-success': privatePage(headWords.paymentSuccess),
  '/payment-canceled': privatePage(headWords.paymentCanceled),
  '/auth/stripe-success': privatePage(headWords.processing),
  '/payment-details-saved': privatePage(headWords.detailsSaved),
  '/activate-trial': privatePage(headWords.trial),
};

export const notFoundHead: PageHead = { ...publicPage(headWords.notFound), isPublic: false };

export function pageHead(path: string): PageHead {
  return pages[path === '/' ? path : path.replace(/\/$/, '')] ?? notFoundHead;
}
