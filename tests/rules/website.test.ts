import { languages, published } from '#contract/languages';
import { stripTypeScriptTypes } from 'node:module';
import { describe, expect, it, vi } from 'vitest';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { HeadTags } from '../../web/build/head-tags.tsx';
import { notFoundHead, pageHead, pages } from '../../web/app/page-heads.ts';
import {
  addedHeaders,
  hashOf,
  mergedHeaders,
  robots,
  securityHeaders,
  sitemap,
} from '../../web/build/site-files.ts';
import { placeholdersOf, sourceOf } from '../../web/build/words/message.ts';
import { chosenHome } from '../../web/app/language-addresses.ts';
import { correctedPath } from '../../web/rules/addresses.ts';
import { isInApp } from '../../web/rules/in-app.ts';
import type { Served, Visitor } from '../../web/start/protocol.ts';
import { reloadOnce } from '../../web/start/missing-files.ts';
import { startMode, type StartMode } from '../../web/start/start-modes.ts';
import { pseudoLanguage, pseudoTexts } from '../../web/build/words/pseudo-language.ts';
import * as fc from 'fast-check';
import {
  folderOf,
  inEnglishOrder,
  readNotes,
  readTexts,
  sentencesOf,
} from '../../web/build/words/texts.ts';
import {
  currentSources,
  readPo,
  staleKeys,
  writePo,
} from '../../web/build/words/translation-files.ts';

const headTags = (path: string) => renderToStaticMarkup(createElement(HeadTags, { path }));

describe('the heads and headers of pages', () => {
  const files = { hashedFiles: [], scriptFolder: 'assets/en-1' };
  const noInline = {
    scripts: [],
    styles: [],
    pageScripts: new Map<string, string>(),
  };

  it('names every page once', () => {
    const titles = Object.values(pages).map(({ title }) => title);
    expect(new Set(titles).size).toBe(titles.length);
  });

  it.each([
    ['/Help-now.', '/help-now'],
    ['/help-now%E2%80%9D)', '/help-now'],
    ['/ES/Plans%20', '/es/plans'],
    ['/.', '/'],
  ])('%s is written for %s', (written, path) => {
    expect(correctedPath(written)).toBe(path);
  });

  it('takes the path of no page for a wrong one', () => {
    const paths = Object.keys(pages).flatMap((path) => [path, `/es${path}`, `${path}/`]);
    expect(paths.map(correctedPath)).toEqual(paths);
    const again = (path: string) => correctedPath(correctedPath(path)) === correctedPath(path);
    fc.assert(fc.property(fc.webPath(), again));
  });

  it('shows search engines the public pages and nothing else', () => {
    const known = [...sitemap().matchAll(/<loc>https:\/\/[^/]+(\/[^<]*)<\/loc>/g)].map(
      ([, path]) => path,
    );
    const publicPaths = [
      '/',
      '/plans',
      '/contact',
      '/terms',
      '/privacy',
      '/login',
      '/help-now',
      '/safety',
      '/cancel',
      '/withdraw',
    ];
    const inEachLanguage = languages
      .filter(({ tag }) => published.includes(tag))
      .flatMap(({ path: start }) => publicPaths.map((path) => start + path));
    expect(new Set(known)).toEqual(new Set(inEachLanguage));
    expect(headTags('/account')).toContain('content="noindex"');
    expect(robots()).toContain('/sitemap.xml');
  });

  it('uses the 404 head for an unknown path', () => {
    expect(pageHead('/nope')).toBe(notFoundHead);
    expect(pageHead('/plans/')).toBe(pages['/plans']);
  });

  it('offers each plan to search engines at its weekly price', () => {
    const json =
      /<script type="application\/ld\+json">(.*)<\/script>/.exec(headTags('/'))?.[1] ?? '';
    const product = JSON.parse(json)['@graph'].find(
      (thing: { '@type': string }) => thing['@type'] === 'Product',
    );
    expect(product.offers.map(({ price }: { price: string }) => price)).toEqual([
      '0.00',
      '11.99',
      '29.99',
      '79.99',
    ]);
  });

  it('allows the script of a shell on that page alone, and requests to named origins', () => {
    const [sheet, script] = ['p{color:blue}', 'start()'];
    const connectTo = ['https://api.example'];
    const inline = {
      scripts: ['head()'],
      styles: [sheet],
      pageScripts: new Map([['/chat', script]]),
    };
    const headers = securityHeaders({ inline, connectTo, ...files });
    const [general = '', own = ''] = headers.split(/(?=^\/chat$)/m);
    expect(general).toContain("connect-src 'self' https://api.example;");
    expect(general).toContain(`script-src 'self' ${hashOf('head()')};`);
    expect(general).toContain(`style-src 'self' ${hashOf(sheet)};`);
    expect(own).toContain(`script-src 'self' ${hashOf('head()')} ${hashOf(script)};`);
    expect(own).toContain('! Content-Security-Policy');
  });

  it('shares the rules of pages between languages, and gives a further one those that differ', () => {
    const site = (folder: string, sheet: string, greeting: string) => ({
      inline: {
        scripts: ['head()'],
        styles: [sheet],
        pageScripts: new Map([['/chat', `${greeting}()`]]),
      },
      connectTo: [],
      scriptFolder: `assets/${folder}`,
      hashedFiles: [
        'assets/vendor-1.js',
        `assets/${folder}/main-2.js`,
        `assets/${folder}/chat-3.js`,
      ],
    });
    const shared = 'a{}';
    const first = securityHeaders(site('en-1', shared, 'hello'));
    const more = (sheet: string) =>
      mergedHeaders([first, addedHeaders(first, site('es-1', sheet, 'hola'))]);
    const rulesOf = (text: string) => [...text.matchAll(/^\/\S*/gm)].map(([path]) => path);
    // The rules of this test are written without the start of a language, since the words here are English.
    const english = ['/*', '/chat', '/assets/en-1/*', '/assets/vendor-1.js'];
    expect(rulesOf(more(shared))).toEqual([...english, '/chat', '/assets/es-1/*']);
    const other = more('other{}');
    expect(rulesOf(other)).toEqual([...english, '/*', '/chat', '/assets/es-1/*']);
    expect(other.lastIndexOf(hashOf('other{}'))).toBeGreaterThan(
      other.indexOf('/assets/vendor-1.js'),
    );
  });

  it('caches existing assets for good, and nothing else', () => {
    const names = (count: number) => Array.from({ length: count }, (_, at) => `assets/${at}.js`);
    const rules = (count: number) =>
      securityHeaders({
        inline: noInline,
        connectTo: [],
        ...files,
        hashedFiles: names(count),
      });
    expect(rules(2)).toContain(
      '/assets/0.js\n  Cache-Control: public, max-age=31536000, immutable\n\n/assets/1.js',
    );
    expect(rules(2)).not.toContain('/assets/*');
    expect(() => rules(100)).toThrow(/more than the 100 allowed/);
    const own = rules(60).replaceAll('/assets/', '/assets/es-');
    expect(() => mergedHeaders([rules(60), own])).toThrow(/more than the 100 allowed/);
  });
});

it.each([undefined, 'en', 'xx', '/es', 'constructor'])(
  'leads nobody who stored %j from the home page',
  (stored) => {
    expect(chosenHome(stored)).toBeNull();
  },
);

describe('the start of a page', () => {
  it.each<[Served | undefined, Visitor | undefined, StartMode]>([
    ['page', undefined, 'page'],
    ['page', 'returning', 'page'],
    ['page', 'special', 'page'],
    ['guest-page', undefined, 'page'],
    ['guest-page', 'unscripted', 'page'],
    ['guest-page', 'special', 'specialPage'],
    ['guest-page', 'returning', 'empty'],
    ['shell', 'returning', 'shell'],
    ['shell', undefined, 'shell'],
    ['shell', 'special', 'shell'],
    [undefined, undefined, 'empty'],
    [undefined, 'special', 'specialPage'],
    [undefined, 'returning', 'empty'],
  ])('with %s served to a visitor %s is %s', (served, visitor, mode) => {
    expect(startMode(served, visitor)).toBe(mode);
  });

  it('is loaded again for missing files at most once a minute', () => {
    vi.useFakeTimers();
    const history = {
      state: {},
      replaceState(state: object) {
        this.state = state;
      },
    };
    vi.stubGlobal('history', history);
    const reload = vi.fn();
    expect(reloadOnce(reload)).toBe(true);
    vi.advanceTimersByTime(59_999);
    expect(reloadOnce(reload)).toBe(false);
    vi.advanceTimersByTime(1);
    expect(reloadOnce(reload)).toBe(true);
    expect(reload).toHaveBeenCalledTimes(2);
    vi.unstubAllGlobals();
    vi.useRealTimers();
  });
});

describe('the browser', () => {
  const iPhone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15';
  const android = 'Mozilla/5.0 (Linux; Android 15; Pixel 9';
  const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36';

  it.each([
    ['Instagram', `${iPhone} (KHTML, like Gecko) Mobile/15E148 Instagram 400.0.0`],
    ['Facebook', `${iPhone} (KHTML, like Gecko) Mobile/15E148 [FBAN/FBIOS;FBAV/500.0]`],
    ['an app of iOS', `${iPhone} (KHTML, like Gecko) Mobile/15E148`],
    ['WhatsApp', `${android}; wv) ${chrome}`],
    ['Telegram', `${android}) ${chrome} Telegram-Android/12.1`],
    ['TikTok', `${android}) ${chrome} BytedanceWebview/d8a21c6`],
  ])('of %s is inside an app', (_, userAgent) => {
    expect(isInApp({ userAgent })).toBe(true);
  });

  it.each([
    ['Chrome', `${android}) ${chrome}`],
    ['Safari', `${iPhone} (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1`],
    ['Chrome of iOS', `${iPhone} (KHTML, like Gecko) CriOS/142.0 Mobile/15E148 Safari/604.1`],
    ['Firefox', 'Mozilla/5.0 (Android 15; Mobile; rv:145.0) Gecko/145.0 Firefox/145.0'],
  ])('%s is a whole one', (_, userAgent) => {
    expect(isInApp({ userAgent })).toBe(false);
  });

  it('is a whole one where the site is installed', () => {
    const userAgent = `${iPhone} (KHTML, like Gecko) Mobile/15E148`;
    expect(isInApp({ userAgent, standalone: true })).toBe(false);
  });
});

describe('the words of a language', () => {
  /** What the compiled text is, or returns for these values. */
  const compiled = (text: string, locale: string, ...values: unknown[]) => {
    const direction = locale === 'ar' ? 'rtl' : 'ltr';
    const source = stripTypeScriptTypes(
      sourceOf(text, {
        tag: locale,
        direction,
      }),
    );
    const rules = new Intl.PluralRules(locale);
    // oxlint-disable-next-line typescript/no-implied-eval -- the source is made here
    const result: unknown = new Function('pluralForm', `return ${source}`)((count: number) =>
      rules.select(count),
    );
    return typeof result === 'function' ? result(...values) : result;
  };

  it('fills in the names of the product and keeps quotes, accents and dollars', () => {
    expect(compiled("Chat with {companion}: “it's `free`, US$ {price} — ¿sí?”", 'en', 5)).toBe(
      "Chat with Solace: “it's `free`, US$ 5 — ¿sí?”",
    );
    expect(compiled('\\n is no new line', 'en')).toBe('\\n is no new line');
  });

  const english = '{count, plural, one {# message} other {# messages}}';
  const spanish = '{count, plural, one {# mensaje} many {# de mensajes} other {# mensajes}}';
  it.each([
    ['en', english, [0, 1, 2], ['0 messages', '1 message', '2 messages']],
    ['es', spanish, [1, 2, 1_000_000], ['1 mensaje', '2 mensajes', '1000000 de mensajes']],
    ['en', english.replace('one', '=0 {none} one'), [0, 1, 2], ['none', '1 message', '2 messages']],
  ])('chooses the plural form of %s in %s', (tag, text, counts, forms) => {
    expect(counts.map((count) => compiled(text, tag, count))).toEqual(forms);
  });

  it('isolates values in a language from right to left, where they would change their place', () => {
    expect(compiled('رقمك {phone}', 'ar', '+1 555-123-4567')).toBe(
      'رقمك \u2068+1 555-123-4567\u2069',
    );
    expect(compiled('{companion}', 'ar')).toBe('Solace');
  });

  it('has a pseudo-language with accents, longer, and with the same placeholders', () => {
    const english =
      'You have {count, plural, one {# message} other {# messages}}: <a>it’s {name}</a>';
    const { text } = pseudoTexts({ text: english });
    expect(text).toBe(
      'Ýööûû ĥååṽéé {count,plural,one{# ɱééššååĝéé} other{# ɱééššååĝééš}}: <a>ííţ’š {name}</a>',
    );
    expect(placeholdersOf(text, 'en')).toBe(placeholdersOf(english, 'en'));
    expect(published).not.toContain(pseudoLanguage.tag);
  });

  it.each([
    ['a missing plural form', '{count, plural, one {# mensaje} other {# mensajes}}', /many/],
    ['a form that the build does not know', '{count, select, a {A} other {B}}', /other than/],
    ['an unclosed placeholder', 'Hola {name', /EXPECT|UNCLOSED/],
    ['an unclosed tag', 'Hola <b>', /TAG/],
  ])('refuses %s', (_, text, reason) => {
    expect(() =>
      sourceOf(text, {
        tag: 'es',
        direction: 'ltr',
      }),
    ).toThrow(reason);
  });

  it('compares translations by their placeholders, tags and names', () => {
    expect(placeholdersOf('<a>{x}</a> {name}', 'en')).toBe(
      placeholdersOf('{name}: {x} <a>y</a>', 'es'),
    );
    expect(placeholdersOf('{x}', 'en')).not.toBe(placeholdersOf('<x>y</x>', 'es'));
    expect(placeholdersOf('{x} {name}', 'en')).not.toBe(placeholdersOf('{x}', 'es'));
  });
});

const english = sentencesOf('en');
const nothing = { sentences: new Map<string, string>(), sources: {} };
const others = published.filter((tag) => tag !== 'en');

describe('the file for translators', () => {
  it.each(others)('brings every text of %s back as it was', (tag) => {
    const before = {
      sentences: sentencesOf(folderOf(tag)),
      sources: currentSources(english),
    };
    const file = writePo({
      ...before,
      tag,
      english,
      notes: readNotes(),
    });
    expect(readPo(file, english, nothing)).toEqual(before);
    expect(inEnglishOrder(before.sentences)).toEqual(readTexts(folderOf(tag)));
  });

  it('brings any text back, whatever it contains', () => {
    const texts = fc
      .string({ unit: 'grapheme', minLength: 1 })
      .filter((text) => text.trim() !== '' && !/[\r\0]/.test(text));
    fc.assert(
      fc.property(texts, texts, (source, translated) => {
        const one = new Map([['a.b.c', source]]);
        const before = {
          sentences: new Map([['a.b.c', translated]]),
          sources: currentSources(one),
        };
        const file = writePo({
          ...before,
          tag: 'it',
          english: one,
          notes: {},
        });
        expect(readPo(file, one, nothing)).toEqual(before);
      }),
    );
  });

  it('has the notes of a text, of its group and of its file, and says which texts are messages', () => {
    const notes = {
      voice: 'Warm.',
      'a.b': 'A group.',
      'a.b.c': 'A text.',
      'a.x': 'Another.',
    };
    const one = new Map([['a.b.c', 'Hi {name}']]);
    const file = writePo({
      ...nothing,
      tag: 'pt-BR',
      english: one,
      notes,
    });
    const parts = [
      '# Warm.',
      '#. A group.\n#. A text.',
      '#, icu-message-format',
      'Language: pt_BR',
    ];
    for (const part of [...parts, '# Plural forms of pt-BR: one, many, other.'])
      expect(file).toContain(part);
    expect(file).not.toContain('Another');
  });

  const source = new Map(
    Object.entries({
      'a.b.one': 'One',
      'a.b.two': 'Two',
    }),
  );
  const fresh = {
    sentences: source,
    sources: { 'a.b.one': '', 'a.b.two': '' } as Record<string, string>,
  };
  const po = (texts: typeof fresh, from = source) =>
    writePo({ ...texts, tag: 'it', english: from, notes: {} });

  it('leaves a text that was not translated as it is: still English', () => {
    const file = po(fresh).replace('msgid "One"\nmsgstr ""', 'msgid "One"\nmsgstr "Uno"');
    const { sentences, sources } = readPo(file, source, fresh);
    expect(Object.fromEntries(sentences)).toEqual({
      'a.b.one': 'Uno',
      'a.b.two': 'Two',
    });
    expect(sources).toEqual({
      ...currentSources(new Map([['a.b.one', 'One']])),
      'a.b.two': '',
    });
  });

  it('marks a text as stale if its English changed before or after the file was written', () => {
    const italian = new Map(
      Object.entries({
        'a.b.one': 'Uno',
        'a.b.two': 'Due',
      }),
    );
    const translated = {
      sentences: italian,
      sources: currentSources(source),
    };
    const changed = new Map([...source, ['a.b.two', 'Two of them']] as const);
    expect(staleKeys(changed, translated.sources)).toEqual(['a.b.two']);
    const late = readPo(po(translated), changed, fresh);
    expect(staleKeys(changed, late.sources)).toEqual(['a.b.two']);
    const early = po(translated, changed);
    expect(early).toContain('#, fuzzy\nmsgctxt "a.b.two"');
    expect(staleKeys(changed, readPo(early, changed, translated).sources)).toEqual(['a.b.two']);
    const confirmed = early.replace('#, fuzzy\n', '');
    expect(staleKeys(changed, readPo(confirmed, changed, translated).sources)).toEqual([]);
  });

  it('is refused if it has a text that English does not have', () => {
    const without = new Map([['a.b.one', 'One']]);
    expect(() => readPo(po(fresh), without, fresh)).toThrow('a.b.two does not exist in English');
  });
});
