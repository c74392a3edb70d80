import { describe, expect, it } from 'vitest';
import { published } from '#contract/languages';
import { accountWords } from '#words/account';
import { chatWords } from '#words/chat';
import { layoutWords } from '#words/layout';
import { pages } from '../../web/app/page-heads.ts';
import { pseudoLanguage } from '../../web/build/words/pseudo-language.ts';
import { site } from './site.ts';

const paths = Object.keys(pages);
const pseudoFolder = `/${pseudoLanguage.tag.toLowerCase()}-`;
const landing = site.scripts('/');

describe('weight, in KiB of brotli', () => {
  it('of the landing page: 100 of scripts', () => {
    expect(landing.size).toBeGreaterThan(0);
    expect(site.scriptWeight(landing)).toBeLessThanOrEqual(100);
  });

  it('of the landing page is not spent on crisis lines', () => {
    const scripts = site.files().filter((file) => file.endsWith('.js') && !file.includes(pseudoFolder));
    const holders = scripts.filter((file) => site.read(file).includes('TelefonSeelsorge'));
    expect(holders).toHaveLength(published.length);
    expect([...landing].filter((file) => holders.includes(file))).toEqual([]);
  });

  it('of the landing page is not spent on words of the account and the chat', () => {
    const scripts = [...landing].map(site.read).join('');
    const words = [layoutWords.loadingConversation, accountWords.refreshFailed, chatWords.disconnected];
    expect(words.filter((text) => scripts.includes(text))).toEqual([layoutWords.loadingConversation]);
  });

  it.each(paths)('of %s: 125 of scripts, those of the landing page included', (path) => {
    expect(site.scriptWeight(new Set([...landing, ...site.scripts(path)]))).toBeLessThanOrEqual(125);
  });

  it.each([...paths, '/404'])('of %s: 5.5 of styles in the page itself', (path) => {
    const styles = site.styles(path);
    expect(styles).toHaveLength(1);
    expect(site.weigh(styles.join(''))).toBeLessThanOrEqual(5.5);
  });

  const publishedFiles = site.htmlFiles().filter((file) => !`/${file}`.startsWith(`${pseudoLanguage.path}/`));
  it.each(publishedFiles)('of %s: 12 of HTML', (file) => {
    expect(site.weigh(site.read(file))).toBeLessThanOrEqual(12);
  });
});

describe('the first paint', () => {
  it.each([...paths, '/404'])('of %s waits for nothing but the HTML', (path) => {
    const html = site.html(path);
    expect(html).not.toContain('rel="stylesheet"');
    const external = html.match(/<script\b[^>]*\bsrc=[^>]*>/g) ?? [];
    expect(external.filter((tag) => !tag.includes('type="module"'))).toEqual([]);
  });

  it('loads one stylesheet, of 8 KiB, which every page names', () => {
    const sheets = site.files().filter((file) => file.endsWith('.css'));
    expect(sheets).toHaveLength(1);
    const [sheet = ''] = sheets;
    expect(site.weigh(site.read(sheet))).toBeLessThanOrEqual(8);
    for (const file of site.htmlFiles())
      expect(site.read(file)).toContain(`as="style" fetchpriority="low" href="/${sheet}"`);
  });
});
