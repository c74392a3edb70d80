import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { headTags } from '../../web/head/head-tags.ts';
import { lostPage, pageHead, pages } from '../../web/head/pages.ts';
import { inlineScriptHashes, securityHeaders } from '../../web/head/security-headers.ts';
import { robots, sitemap } from '../../web/head/site-files.ts';

const publicPaths = new Set(['/', '/plans', '/contact', '/terms', '/privacy', '/login']);

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

it('takes an unknown path for a lost page', () => {
  expect(pageHead('/nope')).toBe(lostPage);
  expect(pageHead('/plans/')).toBe(pages['/plans']);
});

it('offers each plan to search engines at its weekly price', () => {
  const json = /<script type="application\/ld\+json">(.*)<\/script>/.exec(headTags('/'))?.[1] ?? '';
  const product = JSON.parse(json)['@graph'].find((thing: { '@type': string }) => thing['@type'] === 'Product');
  expect(product.offers.map(({ price }: { price: string }) => price)).toEqual(['0.00', '11.99', '29.99', '79.99']);
});

it('allows inline scripts by their hash alone', () => {
  const html = '<script>one()</script><script type="module" src="/x.js"></script>';
  const hash = createHash('sha256').update('one()').digest('base64');
  expect(inlineScriptHashes(html)).toEqual([`'sha256-${hash}'`]);
  const headers = securityHeaders({ html, connectTo: ['https://api.example'] });
  expect(headers).not.toContain('unsafe');
  expect(headers).toContain(`script-src 'self' 'sha256-${hash}';`);
  expect(headers).toContain("connect-src 'self' https://api.example;");
});
