import { brand } from '#contract/brand';
import { palette } from '../theme/palette.ts';
import { pages } from '../words/page-heads.ts';

const { siteUrl } = brand;
const publicPaths = Object.keys(pages).filter((path) => pages[path]?.isPublic);

/** The sitemap for search engines. */
export function sitemap(): string {
  const entries = publicPaths.map((path) => `  <url><loc>${siteUrl}${path}</loc></url>`);
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
    description: brand.tagline,
    start_url: '/',
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
