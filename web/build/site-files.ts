import { basePath, isRightToLeft, locale } from '#words/language';
import { brand } from '#contract/brand';
import { siteWords } from '#words/page-heads';
import { pathIn, published, type Language } from '#contract/languages';
import { addressIn } from '../app/language-addresses.ts';
import { palette } from '../theme/palette.ts';
import { pages } from '../app/page-heads.ts';
import { createHash } from 'node:crypto';

const { siteUrl } = brand;
const publicPaths = Object.keys(pages).filter((path) => pages[path]?.isPublic);

export function sitemap(): string {
  const addresses = published.flatMap((tag) => publicPaths.map((path) => addressIn(tag, path)));
  const entries = addresses.map((address) => `  <url><loc>${address}</loc></url>`);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
    ...entries,
    '</urlset>',
    '',
  ].join('\n');
}

export function robots(): string {
  return ['User-agent: *', 'Disallow: /api/', `Sitemap: ${siteUrl}/sitemap.xml`, ''].join('\n');
}

export function manifest(): string {
  const icon = (size: number, purpose: string) => ({
    src: `/icon-${size}.png`,
    sizes: `${size}x${size}`,
    type: 'image/png',
    purpose,
  });
  return JSON.stringify({
    name: brand.name,
    short_name: brand.name,
    description: siteWords.tagline,
    lang: locale,
    dir: isRightToLeft ? 'rtl' : 'ltr',
    id: `${basePath}/`,
    start_url: `${basePath}/chat`,
    scope: '/',
    display: 'standalone',
    background_color: palette.mist[100].value,
    theme_color: palette.spruce[600].value,
    icons: [
      { src: '/icon.svg', sizes: 'any', type: 'image/svg+xml' },
      icon(192, 'any'),
      icon(512, 'any'),
      icon(512, 'maskable'),
    ],
  });
}

/** Cloudflare's limit; every rule after the first with a placeholder counts. */
const maxPlaceholderRules = 100;

export function redirects(): string {
  const rules = published.flatMap((tag) =>
    aliasesOf(tag).flatMap((alias) => rulesOf(alias, pathIn(tag, ''))),
  );
  const { fixed = [], open = [] } = Object.groupBy(rules, (rule) =>
    /^\S*[:*]/.test(rule) ? 'open' : 'fixed',
  );
  if (open.length > maxPlaceholderRules)
    throw new Error(`${open.length} redirects are more than ${maxPlaceholderRules}`);
  return `${['/favicon.ico /icon-192.png 302', ...fixed, ...open].join('\n')}\n`;
}

/** In every case of letters. */
function aliasesOf(tag: Language): string[] {
  const own = pathIn(tag, '');
  const base = tag.slice(0, 2);
  const aliases = casesOf(base).flatMap((start) => {
    // A placeholder would send the language's own start to itself.
    const isOwn = own.startsWith(`/${start}-`);
    const regions = isOwn ? ['br', 'pt', 'ao', 'mz'].flatMap(casesOf) : [':region'];
    return [`/${start}`, `/${start}_:region`, ...regions.map((region) => `/${start}-${region}`)];
  });
  return aliases.filter((alias) => alias !== own);
}

function casesOf([first = '', second = '']: string): string[] {
  const [one, two] = [first.toUpperCase(), second.toUpperCase()];
  return [first + second, one + two, one + second, first + two];
}

const rulesOf = (alias: string, own: string) => [
  `${alias} ${own}/ 301`,
  `${alias}/* ${own}/:splat 301`,
];

/** Cloudflare's limit. */
const maxRules = 100;

type HeaderOptions = {
  inline: InlineParts;
  connectTo: readonly string[];
  hashedFiles: readonly string[];
  /** Its name has a build id. */
  scriptFolder: string;
};

type InlineParts = {
  scripts: readonly string[];
  styles: readonly string[];
  pageScripts: ReadonlyMap<string, string>;
};

export const pageHeaders = {
  'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'same-origin',
  'Permissions-Policy':
    'camera=(), microphone=(self), geolocation=(), payment=(), usb=(), browsing-topics=()',
  'Cross-Origin-Opener-Policy': 'same-origin',
};

const headerLines = (headers: Record<string, string>) =>
  Object.entries(headers)
    .map(([name, value]) => `  ${name}: ${value}\n`)
    .join('');

/** English is built first. */
export function securityHeaders({ inline, connectTo, ...files }: HeaderOptions): string {
  return joined([
    `/*
  Content-Security-Policy: ${policyOf(inline, connectTo)}
${headerLines(pageHeaders)}`,
    ...pageScriptRules(inline, connectTo),
    ...immutableRules(files),
  ]);
}

export function addedHeaders(
  english: string,
  { inline, connectTo, ...files }: HeaderOptions,
): string {
  const policy = policyOf(inline, connectTo);
  const isShared = english.includes(`\n  Content-Security-Policy: ${policy}\n  Strict-`);
  // The last fitting rule decides.
  return joined([
    ...(isShared ? [] : [pageRule(`${basePath}/*`, policy)]),
    ...pageScriptRules(inline, connectTo),
    ...immutableRules(files),
  ]);
}

/** A shared file's rule occurs once. */
export function mergedHeaders(files: string[]): string {
  const rules = files.flatMap((file) => file.split(/\n(?=\/)/));
  return joined(
    rules.filter((rule, at) => !rule.startsWith('/assets/') || rules.indexOf(rule) === at),
  );
}

/** A page's own script has words of its language. */
const pageScriptRules = ({ pageScripts, ...inline }: InlineParts, connectTo: readonly string[]) =>
  [...pageScripts].map(([path, script]) => {
    const scripts = [...inline.scripts, script];
    return pageRule(basePath + path, policyOf({ ...inline, scripts }, connectTo));
  });

// Without `!` both apply, and the first refuses the page's own script.
const pageRule = (path: string, policy: string) =>
  `${path}\n  ! Content-Security-Policy\n  Content-Security-Policy: ${policy}\n`;

/** A folder's rule would keep the response that a file is missing. */
function immutableRules({
  hashedFiles,
  scriptFolder,
}: Pick<HeaderOptions, 'hashedFiles' | 'scriptFolder'>): string[] {
  const shared = hashedFiles.filter((file) => !file.startsWith(`${scriptFolder}/`));
  return [`${scriptFolder}/*`, ...shared].map(immutable);
}

const immutable = (file: string) =>
  `/${file}\n  Cache-Control: public, max-age=31536000, immutable\n`;

function joined(rules: string[]): string {
  if (rules.length > maxRules)
    throw new Error(`${rules.length} rules are more than the ${maxRules} allowed`);
  return rules.join('\n');
}

type Inline = Pick<InlineParts, 'scripts' | 'styles'>;

const policyOf = ({ scripts, styles }: Inline, connectTo: readonly string[]) =>
  policy({ scripts: scripts.map(hashOf), styles: styles.map(hashOf), connectTo });

export const livePolicy = (nonce: string, connectTo: readonly string[]) =>
  policy({ scripts: [`'nonce-${nonce}'`], styles: [`'nonce-${nonce}'`], connectTo });

type AllowedSources = Record<'scripts' | 'styles' | 'connectTo', readonly string[]>;

function policy({ scripts, styles, connectTo }: AllowedSources): string {
  return [
    "default-src 'none'",
    `script-src ${["'self'", ...scripts].join(' ')}`,
    `style-src ${["'self'", ...styles].join(' ')}`,
    "img-src 'self'",
    "font-src 'self'",
    // Recordings are played from memory.
    'media-src blob:',
    `connect-src ${["'self'", ...connectTo].join(' ')}`,
    "manifest-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "object-src 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

export const hashOf = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
