import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { memoize } from '../../worker/lib/memoize.ts';
import { describe, expect, it } from 'vitest';
import { pages } from '../../web/app/page-heads.ts';
import { landingWords } from '#words/landing';
import { helpLines } from '../../worker/contract/help-lines.ts';
import { published } from '#contract/languages';
import { accountWords } from '#words/account';
import { chatWords } from '#words/chat';
import { layoutWords } from '#words/layout';
import { pseudoLanguage } from '../../web/build/words/pseudo-language.ts';

const root = join(import.meta.dirname, '../../dist/web');
if (!existsSync(join(root, 'index.html')))
  throw new Error('There is no build to look at: run `npm run build` first.');

const read = (file: string) => readFileSync(join(root, file), 'utf8');
/** Compressed once each: the shared scripts belong to every page. */
const weigh = memoize((text: string) => brotliCompressSync(text).length / 1024, Infinity);

/** The built website, as it lies in `dist/web`; weights are KiB of brotli. */
const site = {
  files: () => readdirSync(root, { recursive: true, encoding: 'utf8' }),
  htmlFiles: () => site.files().filter((file) => file.endsWith('.html')),
  /** The HTML of a path. */
  html: (path: string) => read(path === '/' ? 'index.html' : `${path.slice(1)}.html`),
  read,
  weigh,
  scripts: (path: string) => {
    const found = site.html(path).matchAll(/<(?:script|link)\b[^>]*?(?:src|href)="\/([^"]+\.js)"/g);
    return new Set([...found].map(([, file = '']) => file));
  },
  scriptWeight: (files: Iterable<string>) =>
    [...files].reduce((sum, file) => sum + weigh(read(file)), 0),
  styles: (path: string) =>
    [...site.html(path).matchAll(/<style>([\s\S]*?)<\/style>/g)].map(([, css = '']) => css),
  /** The visible words of a path: its body without tags. */
  text: (path: string) =>
    (site.html(path).split('<body>')[1] ?? '')
      .replaceAll(/<(noscript|script)>[\s\S]*?<\/\1>/g, '')
      .replaceAll(/<[^>]+>/g, '')
      .replaceAll(/\s+/g, ' ')
      .replaceAll('&#x27;', "'")
      .replaceAll('&quot;', '"')
      .replaceAll('&amp;', '&')
      .trim(),
};

/** A sentence from the end of each page that can be read as it is served; `prerender.test.ts` has the headings. */
const words: Record<string, string> = {
  '/': landingWords.callToActionText,
  '/plans': 'Choose Platinum',
  '/login': 'Send Verification Code',
  '/cancel': 'You can change your mind until that day.',
  '/withdraw': 'Phone number of my account:',
  '/contact': 'Monday-Friday 9:00 AM-6:00 PM EST',
  '/terms': 'cancellation',
  '/privacy': 'encrypt',
  '/help-now': 'United States988 Suicide & Crisis LifelineText 988',
  '/safety': 'Nobody at Solace reads conversations as they are written.',
  '/404': 'Return to Home',
};
const isPublic = (path: string) => pages[path]?.isPublic !== false;

it('knows every public page', () => {
  expect([...Object.keys(pages).filter(isPublic), '/404'].toSorted()).toEqual(
    Object.keys(words).toSorted(),
  );
});

it.each(Object.entries(words))('%s is served with its words', (path, sentence) => {
  for (const part of [sentence, 'All rights reserved.']) expect(site.text(path)).toContain(part);
});

it.each([
  ['es', 'es', 'Elige tu plan'],
  ['pt-br', 'pt-BR', 'Escolha seu plano'],
])('%s has pages of its own, which name those of the other languages', (folder, tag, title) => {
  const html = site.html(`/${folder}/plans`);
  for (const part of [`<html lang="${tag}"`, title]) expect(html).toContain(part);
  expect(html).toContain(`<link rel="canonical" href="https://solace.example/${folder}/plans"`);
  for (const [other, start] of Object.entries({
    en: '',
    es: '/es',
    'pt-BR': '/pt-br',
    'x-default': '',
  }))
    expect(html).toContain(`hrefLang="${other}" href="https://solace.example${start}/plans"`);
});

it.each([
  ['en', '', 'Languages'],
  ['es', '/es', 'Idiomas'],
  ['pt-BR', '/pt-br', 'Idiomas'],
] as const)(
  '/help-now names countries in %s, and the languages in which each line answers',
  (tag, path, label) => {
    const text = site.text(`${path}/help-now`);
    const countries = new Intl.DisplayNames(tag, { type: 'region' });
    const names = new Intl.DisplayNames(tag, { type: 'language' });
    for (const country of ['AR', 'BR', 'DE', 'US']) expect(text).toContain(countries.of(country));
    for (const { service, languages = [] } of Object.values(helpLines).flatMap(
      ({ lines }) => lines,
    )) {
      expect(text).toContain(service);
      if (languages.length > 0)
        expect(text, service).toContain(
          `${label}: ${languages.map((code) => names.of(code)).join(', ')}`,
        );
    }
  },
);

it.each(Object.keys(pages).concat('/404'))(
  '%s leads to the crisis lines without JavaScript',
  (path) => {
    const [, seen = ''] = site.html(path).split('<body>');
    const isShown = pages[path]?.served !== 'none';
    const markup = isShown ? seen : (/<noscript>[\s\S]*?<\/noscript>/.exec(seen)?.[0] ?? '');
    expect(markup).toMatch(/<a [^>]*href="\/help-now"/);
  },
);

const privatePages = (served: string) =>
  Object.keys(pages).filter((path) => !isPublic(path) && pages[path]?.served === served);

it.each(privatePages('none'))('%s is served empty', (path) => {
  expect(site.html(path)).toContain('<div id="root"></div>');
  expect(site.text(path)).toBe('');
});

it.each(privatePages('shell'))('%s is served as a frame without data of anybody', (path) => {
  const html = site.html(path);
  expect(html).toContain('<div id="root" data-served="shell"');
  const main = /<main[\s\S]*<\/main>/.exec(html)?.[0] ?? '';
  expect(main.replaceAll(/<[^>]+>/g, '')).not.toMatch(/\d/);
});

it('uses no style that knows only one direction of text', () => {
  const sheets = site.files().filter((file) => /\.(?:css|html)$/.test(file));
  const css = sheets.map((file) =>
    file.endsWith('.css') ? site.read(file) : site.styles(`/${file.slice(0, -5)}`).join(''),
  );
  expect(css.join('')).toContain('margin-inline-start');
  const physical =
    /(?<![\w-])(?:(?:margin|padding|border|scroll-(?:margin|padding))-(?:left|right)|left|right|border-(?:top|bottom)-(?:left|right)-radius):|(?:text-align|float|clear):(?:left|right)|translateX\(/g;
  expect(css.flatMap((text) => text.match(physical) ?? [])).toEqual([]);
});

it('allows the microphone, recordings from memory and the service worker on every page', () => {
  const headers = site.read('_headers');
  const policies = headers.match(/(?<!! )Content-Security-Policy: .*/g) ?? [];
  expect(policies.length).toBeGreaterThan(2 * published.length);
  for (const policy of policies)
    for (const rule of ['media-src blob:;', "worker-src 'self';"]) expect(policy).toContain(rule);
  // One rule for all pages; no other one takes it back.
  expect(headers.match(/Permissions-Policy: .*/g)).toEqual([
    expect.stringContaining('microphone=(self)'),
  ]);
});

// The browser tests open every page under its policy, and a refusal is an error of the console.
describe('the Content-Security-Policy', () => {
  const headers = site.read('_headers');

  it('needs few of the 100 rules that Cloudflare reads', () => {
    expect(headers.split('\n\n').length).toBeLessThanOrEqual(6 + 6 * published.length);
  });

  it('trusts nothing inline but what it names', () => {
    expect(headers).not.toMatch(/unsafe|-src [^;]*:\/\//);
  });
});

const paths = Object.keys(pages);
const pseudoFolder = `/${pseudoLanguage.tag.toLowerCase()}-`;
const landing = site.scripts('/');

describe('weight, in KiB of brotli', () => {
  it('of the landing page: 100 of scripts', () => {
    expect(landing.size).toBeGreaterThan(0);
    expect(site.scriptWeight(landing)).toBeLessThanOrEqual(100);
  });

  it('of the landing page is not spent on crisis lines', () => {
    const scripts = site
      .files()
      .filter((file) => file.endsWith('.js') && !file.includes(pseudoFolder));
    const holders = scripts.filter((file) => site.read(file).includes('TelefonSeelsorge'));
    expect(holders).toHaveLength(published.length);
    expect([...landing].filter((file) => holders.includes(file))).toEqual([]);
  });

  it('of the landing page is not spent on words of the account and the chat', () => {
    const scripts = [...landing].map(site.read).join('');
    const words = [
      layoutWords.loadingConversation,
      accountWords.refreshFailed,
      chatWords.disconnected,
    ];
    expect(words.filter((text) => scripts.includes(text))).toEqual([
      layoutWords.loadingConversation,
    ]);
  });

  it('has no name for which a content blocker would refuse it', () => {
    const scripts = site.files().filter((file) => /^assets\/.*\.js$/.test(file));
    const blocked =
      /\bads?\b|analytic|banner|consent|cookie|metric|notif|pixel|popup|push|social|track/;
    expect(scripts.length).toBeGreaterThan(20);
    expect(scripts.filter((file) => blocked.test(file))).toEqual([]);
  });

  it('is not spent on making class names, which the build does for literal styles', () => {
    const scripts = site.files().filter((file) => file.endsWith('.js'));
    const makers = scripts.filter((file) => site.read(file).includes('boxDecorationBreak:'));
    expect(scripts.length).toBeGreaterThan(0);
    expect(makers).toEqual([]);
  });

  it.each(paths)('of %s: 125 of scripts, those of the landing page included', (path) => {
    expect(site.scriptWeight(new Set([...landing, ...site.scripts(path)]))).toBeLessThanOrEqual(
      125,
    );
  });

  it('of the numbering plans: 40, which no page loads before it can be used', () => {
    const isPlans = (file: string) => file.endsWith('/phone-library.js');
    const [file = ''] = site.files().filter(isPlans);
    expect(site.scriptWeight([file])).toBeLessThanOrEqual(40);
    for (const path of paths) expect([...site.scripts(path)].filter(isPlans)).toEqual([]);
  });

  it('of the styles, which every page has inline: 10, the same in all', () => {
    const sheets = new Set([...paths, '/404', '/offline', '/es/plans'].flatMap(site.styles));
    expect(sheets.size).toBe(1);
    for (const sheet of sheets) expect(site.weigh(sheet)).toBeLessThanOrEqual(10);
  });

  it('and sets each variable that it reads, those of elements aside', () => {
    const ofToasts = ['--height', '--opacity', '--scale', '--x', '--y', '--z-index'];
    const sheet = site.styles('/')[0]!;
    const set = new Set([...sheet.matchAll(/(--[\w-]+):/g)].map(([, name]) => name));
    const read = [...sheet.matchAll(/var\((--[\w-]+)\)/g)].map(([, name]) => name);
    const unset = new Set(read.filter((name) => !set.has(name)));
    expect(unset).toEqual(new Set([...ofToasts, '--plans']));
  });

  const publishedFiles = site
    .htmlFiles()
    .filter((file) => !`/${file}`.startsWith(`${pseudoLanguage.path}/`));
  // The hashes in the names of files alone move a page by up to 0.06.
  it.each(publishedFiles)('of %s: 18.8 of HTML, its styles included', (file) => {
    expect(site.weigh(site.read(file))).toBeLessThanOrEqual(18.8);
  });
});

describe('the first paint', () => {
  it.each([...paths, '/404'])('of %s waits for nothing but the HTML', (path) => {
    const html = site.html(path);
    expect(html).not.toContain('rel="stylesheet"');
    const external = html.match(/<script\b[^>]*\bsrc=[^>]*>/g) ?? [];
    expect(external.filter((tag) => !tag.includes('type="module"'))).toEqual([]);
  });
});

it('no proxy may rewrite the addresses in the text of a page, which React expects as they were served', () => {
  for (const file of site.htmlFiles()) {
    const [, body = ''] = /<!--email_off-->([\s\S]*)<!--\/email_off-->/.exec(site.read(file)) ?? [];
    expect(body, file).toContain('id="root"');
  }
});

it('fields and messages take the direction of their text', () => {
  expect(site.html('/contact').match(/<(?:input|textarea)[^>]*dir="auto"/g)?.length).toBe(4);
  expect(site.read('chat.html')).toMatch(/<textarea[^>]*dir="auto"[^>]*enterkeyhint="enter"/i);
});
