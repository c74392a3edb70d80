import { basePath } from '#words/language';
import { brand } from '#contract/brand';
import { pathIn } from '#contract/languages';
import { addressIn } from './language-addresses.ts';
import { pageHead } from './page-heads.ts';

export function updateHead(address: string): void {
  const path = address.startsWith(`${basePath}/`) ? address.slice(basePath.length) : address;
  show(path, brand.siteUrl + basePath + path);
}

function show(path: string, address: string): void {
  const { title, description, isPublic } = pageHead(path);
  document.title = title;
  set('meta[name=description]', 'content', description);
  set('meta[name=robots]', 'content', isPublic ? 'index, follow' : 'noindex');
  set('link[rel=canonical]', 'href', address);
  set('meta[property="og:url"]', 'content', address);
  for (const link of document.head.querySelectorAll<HTMLLinkElement>('link[hreflang]'))
    link.href = addressIn(link.hreflang, path);
  for (const offer of document.querySelectorAll<HTMLAnchorElement>('.offer a'))
    offer.href = pathIn(offer.hreflang, path);
  for (const name of ['property="og:title"', 'name="twitter:title"']) set(`meta[${name}]`, 'content', title);
  for (const name of ['property="og:description"', 'name="twitter:description"'])
    set(`meta[${name}]`, 'content', description);
}

function set(selector: string, attribute: string, value: string): void {
  document.head.querySelector(selector)?.setAttribute(attribute, value);
}
