import { basePath, locale } from '#words/language';
import { brand } from '#contract/brand';
import { siteWords } from '#words/page-heads';
import { languages, published } from '#contract/languages';
import { addressIn } from '../app/language-addresses.ts';
import { palette } from '../theme/palette.ts';
import { pages, pageHead } from '../app/page-heads.ts';
import { createHash } from 'node:crypto';

const { siteUrl } = brand;
const publicPaths = Object.keys(pages).filter((path) => pages[path]?.isPublic);

/** The sitemap for search engines. */
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
    ...(basePath && { lang: locale }),
    start_url: `${basePath}/`,
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

/** The `_redirects` file: one address for each language, however its start is spelled. */
export function redirects(): string {
  const paths = languages
    .filter(({ tag }) => published.includes(tag))
    .flatMap(({ path, tag }) => (path ? [{ path, tag }] : []));
  const spelled = paths.flatMap(({ path, tag }) =>
    [...new Set([`/${tag}`, path.toUpperCase()])]
      .filter((other) => other !== path)
      .map((other) => [other, path] as const),
  );
  return spelled.flatMap(([from, to]) => [`${from} ${to}/ 301`, `${from}/* ${to}/:splat 301`, '']).join('\n');
}

/** Cloudflare reads at most 100 rules. */
const maxRules = 100;

type HeaderOptions = {
  /** The HTML of each page by its path; `/404` is served for every other path. */
  pages: Record<string, string>;
  connectTo: readonly string[];
  /** Files that have a hash of their content in their names. */
  hashedFiles: readonly string[];
};

/** The `_headers` file of the assets: what a page may do, and how long its parts may be kept. */
export function securityHeaders({ pages, connectTo, hashedFiles }: HeaderOptions): string {
  const { '/404': notFound = '', ...others } = pages;
  // Pages without prerendered text have the same styles and need no rules of their own.
  const isEmpty = (path: string) => pageHead(path).prerendering === 'none';
  const [empty, filled] = [Object.keys(others).filter(isEmpty), Object.keys(others).filter((path) => !isEmpty(path))];
  const general = [notFound, ...empty.map((path) => others[path])].join('');
  const rules = [
    `/*
  Content-Security-Policy: ${policyOf(general, connectTo)}
  Strict-Transport-Security: max-age=31536000; includeSubDomains
  X-Content-Type-Options: nosniff
  X-Frame-Options: DENY
  Referrer-Policy: same-origin
  Permissions-Policy: camera=(), microphone=(), geolocation=(), payment=(), usb=(), browsing-topics=()
  Cross-Origin-Opener-Policy: same-origin
`,
    ...filled.map((path) => pageRule(path, policyOf(pages[path] ?? '', connectTo))),
    // One rule for each file: a rule for the folder would also make browsers keep the response that a file is missing.
    ...hashedFiles.map(immutable),
  ];
  return joined(rules);
}

/**
 * The `_headers` file with the rules of one more language. Its own scripts are in a folder with a build id: no other
 * build has that folder, so one rule for it makes no browser keep the response that a file is missing.
 */
export function headersWith(headers: string, folder: string, { pages, connectTo, hashedFiles }: HeaderOptions): string {
  const rules = headers.split(/\n(?=\/)/);
  const isFilled = (path: string) => path !== '/404' && pageHead(path).prerendering !== 'none';
  const filled = Object.keys(pages).filter(isFilled);
  const general = Object.keys(pages).filter((path) => !isFilled(path));
  for (const hash of general.flatMap((path) => [
    ...inlineHashes(pages[path] ?? '', 'script'),
    ...inlineHashes(pages[path] ?? '', 'style'),
  ]))
    if (!rules[0]?.includes(hash))
      throw new Error(`The policy of all pages refuses an inline script or style of ${locale}`);
  const shared = hashedFiles.filter((file) => !file.startsWith(`${folder}/`) && !headers.includes(`/${file}\n`));
  return joined([
    ...rules,
    ...filled.map((path) => pageRule(path, policyOf(pages[path] ?? '', connectTo))),
    ...[`${folder}/*`, ...shared].map(immutable),
  ]);
}

// Without `!` both policies would apply, and the first refuses the styles of every other page.
const pageRule = (path: string, policy: string) =>
  `${basePath}${path}\n  ! Content-Security-Policy\n  Content-Security-Policy: ${policy}\n`;

const immutable = (file: string) => `/${file}\n  Cache-Control: public, max-age=31536000, immutable\n`;

function joined(rules: string[]): string {
  if (rules.length > maxRules) throw new Error(`${rules.length} rules are more than the ${maxRules} allowed`);
  return rules.join('\n');
}

function policyOf(html: string, connectTo: readonly string[]): string {
  return [
    "default-src 'none'",
    `script-src ${["'self'", ...inlineHashes(html, 'script')].join(' ')}`,
    `style-src ${["'self'", ...inlineHashes(html, 'style')].join(' ')}`,
    "img-src 'self'",
    "font-src 'self'",
    `connect-src ${["'self'", ...connectTo].join(' ')}`,
    "manifest-src 'self'",
    "base-uri 'none'",
    "object-src 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** The hashes by which a policy allows the page's own inline scripts or styles. */
export function inlineHashes(html: string, tag: 'script' | 'style'): string[] {
  const parts = html.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, 'g'));
  const hashes = [...parts].map(([, code = '']) => `'sha256-${createHash('sha256').update(code).digest('base64')}'`);
  return [...new Set(hashes)];
}
