import { headWords, siteWords } from '#words/page-heads';
import { basePath, isWithdrawable } from '#words/language';
import { brand } from '#contract/brand';
import { pathIn } from '#contract/languages';
import { addressIn } from './language-addresses.ts';
import { offerClass, type Served } from '../start/protocol.ts';

export type ServedKind = Served | 'none';
export type PageHead = {
  title: string;
  description: string;
  isPublic: boolean;
  served: ServedKind;
};

type HeadTexts = { title: string; description: string };
const publicPage = ({ title, description }: HeadTexts): PageHead => ({
  title: siteWords.titleOnSite(title),
  description,
  isPublic: true,
  served: 'page',
});
const privatePage = (texts: HeadTexts, served: ServedKind = 'none'): PageHead => ({
  ...publicPage(texts),
  isPublic: false,
  served,
});

export const pages: Record<string, PageHead> = {
  '/': { ...headWords.home, isPublic: true, served: 'page' },
  '/plans': publicPage(headWords.plans),
  '/contact': publicPage(headWords.contact),
  '/help-now': publicPage(headWords.help),
  '/safety': publicPage(headWords.safety),
  '/cancel': { ...publicPage(headWords.cancel), served: 'guest-page' },
  ...(isWithdrawable && {
    '/withdraw': { ...publicPage(headWords.withdraw), served: 'guest-page' as const },
  }),
  '/terms': publicPage(headWords.terms),
  '/privacy': publicPage(headWords.privacy),
  '/login': { ...publicPage(headWords.login), served: 'guest-page' },
  '/account': privatePage(headWords.account, 'shell'),
  '/chat': privatePage(headWords.chat, 'shell'),
  '/order': privatePage(headWords.order),
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

export function updateHead(address: string): void {
  const path = address.startsWith(`${basePath}/`) ? address.slice(basePath.length) : address;
  showHeadOf(path, brand.siteUrl + basePath + path);
}

function showHeadOf(path: string, address: string): void {
  const { title, description, isPublic } = pageHead(path);
  const result = document.querySelector('[data-result] h1')?.textContent;
  document.title = result ? siteWords.titleOnSite(result) : title;

  setAttribute('meta[name=description]', 'content', description);
  setAttribute('meta[name=robots]', 'content', isPublic ? 'index, follow' : 'noindex');
  setAttribute('link[rel=canonical]', 'href', address);
  setAttribute('meta[property="og:url"]', 'content', address);

  for (const link of document.head.querySelectorAll<HTMLLinkElement>('link[hreflang]'))
    link.href = addressIn(link.hreflang, path);
  for (const offer of document.querySelectorAll<HTMLAnchorElement>(`.${offerClass} a`))
    offer.href = pathIn(offer.hreflang, path);

  for (const name of ['property="og:title"', 'name="twitter:title"'])
    setAttribute(`meta[${name}]`, 'content', title);
  for (const name of ['property="og:description"', 'name="twitter:description"'])
    setAttribute(`meta[${name}]`, 'content', description);
}

function setAttribute(selector: string, attribute: string, value: string): void {
  document.head.querySelector(selector)?.setAttribute(attribute, value);
}
