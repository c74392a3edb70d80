import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { headTags } from '../../web/build/head-tags.ts';
import { notFoundHead, pageHead, pages } from '../../web/words/page-heads.ts';
import { inlineHashes, securityHeaders, robots, sitemap } from '../../web/build/site-files.ts';

const publicPaths = new Set(['/', '/plans', '/contact', '/terms', '/privacy', '/login', '/help-now', '/safety']);

it('names every page once', () => {
  const titles = Object.values(pages).map(({ title }) => title);
  expect(new Set(titles).size).toBe(titles.length);
});

it('shows search engines the public pages and nothing else', () => {
  const known = [...sitemap().matchAll(/<loc>https:\/\/[^/]+(\/[^<]*)<\/loc>/g)].map(([, path]) => path);
  expect(new Set(known)).toEqual(publicPaths);
  expect(headTags('/account')).toContain('content="noindex"');
  expect(robots()).toContain('/sitemap.xml');
});

it('uses the 404 head for an unknown path', () => {
  expect(pageHead('/nope')).toBe(notFoundHead);
  expect(pageHead('/plans/')).toBe(pages['/plans']);
});

it('offers each plan to search engines at its weekly price', () => {
  const json = /<script type="application\/ld\+json">(.*)<\/script>/.exec(headTags('/'))?.[1] ?? '';
  const product = JSON.parse(json)['@graph'].find((thing: { '@type': string }) => thing['@type'] === 'Product');
  expect(product.offers.map(({ price }: { price: string }) => price)).toEqual(['0.00', '11.99', '29.99', '79.99']);
});

it('allows inline scripts and styles by their hash alone', () => {
  const html = '<script>one()</script><script type="module" src="/x.js"></script><style>p{color:red}</style>';
  const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  expect(inlineHashes(html, 'script')).toEqual([hashOf('one()')]);
  const headers = securityHeaders({ pages: { '/404': html }, connectTo: ['https://api.example'], hashedFiles: [] });
  expect(headers).not.toContain('unsafe');
  expect(headers).toContain(`script-src 'self' ${hashOf('one()')};`);
  expect(headers).toContain(`style-src 'self' ${hashOf('p{color:red}')};`);
  expect(headers).toContain("connect-src 'self' https://api.example;");
});

it('allows the styles of a page on that page alone', () => {
  const plans = '<style>p{color:blue}</style>';
  const headers = securityHeaders({ pages: { '/404': '', '/plans': plans }, connectTo: [], hashedFiles: [] });
  const [general = '', own = ''] = headers.split(/(?=^\/plans$)/m);
  const [hash = ''] = inlineHashes(plans, 'style');
  expect(general).not.toContain(hash);
  expect(own).toContain(hash);
  expect(own).toContain('! Content-Security-Policy');
});

it('caches existing assets for good, and nothing else', () => {
  const rules = (count: number) =>
    securityHeaders({
      pages: {},
      connectTo: [],
      hashedFiles: Array.from({ length: count }, (_, at) => `assets/${at}.js`),
    });
  expect(rules(2)).toContain('/assets/0.js\n  Cache-Control: public, max-age=31536000, immutable\n\n/assets/1.js');
  expect(rules(2)).not.toContain('*.js');
  expect(() => rules(100)).toThrow(/more than the 100 allowed/);
});
