import { describe, expect, it } from 'vitest';
import { pages } from '../../web/head/pages.ts';
import { site } from './site.ts';

const paths = Object.keys(pages);
const landing = site.scripts('/');

describe('weight, in KiB of brotli', () => {
  it('of the landing page: 100 of scripts', () => {
    expect(landing.size).toBeGreaterThan(0);
    expect(site.scriptWeight(landing)).toBeLessThanOrEqual(100);
  });

  it.each(paths)('of %s: 30 of scripts more than the landing page', (path) => {
    const more = [...site.scripts(path)].filter((file) => !landing.has(file));
    expect(site.scriptWeight(more)).toBeLessThanOrEqual(30);
  });

  it.each([...paths, '/404'])('of %s: 8 of styles, in the page itself', (path) => {
    const styles = site.styles(path);
    expect(styles).toHaveLength(1);
    expect(site.weigh(styles.join(''))).toBeLessThanOrEqual(8);
  });

  it.each([...paths, '/404'])('of %s: 14 of HTML, which fits the first round trip', (path) => {
    expect(site.weigh(site.html(path))).toBeLessThanOrEqual(14);
  });
});

describe('the first paint', () => {
  it.each([...paths, '/404'])('of %s waits for nothing but the HTML', (path) => {
    const html = site.html(path);
    expect(html).not.toContain('rel="stylesheet"');
    const external = html.match(/<script\b[^>]*\bsrc=[^>]*>/g) ?? [];
    expect(external.filter((tag) => !tag.includes('type="module"'))).toEqual([]);
  });

  it('is the whole stylesheet: no file of it is left', () => {
    expect(site.files().filter((file) => file.endsWith('.css'))).toEqual([]);
    for (const file of site.files().filter((name) => name.endsWith('.js')))
      expect(site.read(file)).not.toMatch(/assets\/[\w.-]+\.css/);
  });
});

describe('origins', () => {
  it.each(site.htmlFiles())('%s asks nobody else', (file) => {
    const html = site.read(file);
    const asked = html.match(/<(?:script|link|img|iframe|source|video|audio|object|embed)\b[^>]*>/g) ?? [];
    const foreign = asked.filter((tag) => /(?:src|href|srcset|data)="(?:https?:)?\/\//.test(tag));
    expect(foreign.filter((tag) => !tag.includes('rel="canonical"'))).toEqual([]);
    expect(site.styles(file === 'index.html' ? '/' : `/${file.replace('.html', '')}`).join('')).not.toMatch(
      /url\(["']?(?:https?:)?\/\//,
    );
  });
});
