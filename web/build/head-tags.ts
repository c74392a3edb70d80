import { basePath, locale } from '#words/language';
import { brand } from '#contract/brand';
import { notFoundHead, pageHead, type PageHead, pages } from '../app/page-heads.ts';
import { siteWords } from '#words/page-heads';
import { planTexts } from '../rules/plan-texts.ts';
import { addressIn, offered } from '../app/language-addresses.ts';
import { palette } from '../theme/palette.ts';
import { type Plan, plansOnSale } from '#contract/plans';

export function headTags(path: string): string {
  const page = pageHead(path);
  const { title, description, isPublic } = page;
  const address = brand.siteUrl + basePath + path;
  const data = structuredData(path);
  return [
    `<title>${escape(title)}</title>`,
    meta('name', 'description', description),
    `<meta name="theme-color" content="${palette.mist[100].value}" media="(prefers-color-scheme: light)" />`,
    `<meta name="theme-color" content="${palette.spruce[950].value}" media="(prefers-color-scheme: dark)" />`,
    meta('name', 'robots', isPublic ? 'index, follow' : 'noindex'),
    // The 404 page is served for any address, so it has no canonical one.
    ...(page === notFoundHead ? [] : [`<link rel="canonical" href="${escape(address)}" />`]),
    ...(isPublic ? alternates(path) : []),
    // Nobody shares a page that only its owner can open.
    ...(isPublic ? previewTags(page, address) : []),
    ...(data ? [`<script type="application/ld+json">${data}</script>`] : []),
  ].join('\n    ');
}

function alternates(path: string): string[] {
  const tags = offered.length > 0 ? [...offered.map(({ tag }) => tag), 'x-default'] : [];
  return tags.map(
    (tag) => `<link rel="alternate" hreflang="${tag}" href="${escape(addressIn(tag, path))}" />`,
  );
}

function previewTags({ title, description }: PageHead, address: string): string[] {
  const image = `${brand.siteUrl}/og.png`;
  return [
    meta('property', 'og:site_name', brand.name),
    meta('property', 'og:type', 'website'),
    meta('property', 'og:locale', territoryOf(locale)),
    meta('property', 'og:title', title),
    meta('property', 'og:description', description),
    meta('property', 'og:url', address),
    meta('property', 'og:image', image),
    meta('property', 'og:image:width', '1200'),
    meta('property', 'og:image:height', '630'),
    meta('property', 'og:image:alt', siteWords.pictureText),
    meta('name', 'twitter:card', 'summary_large_image'),
    meta('name', 'twitter:title', title),
    meta('name', 'twitter:description', description),
    meta('name', 'twitter:image', image),
  ];
}

/** Social networks want a territory with each language, such as `en_US`. */
function territoryOf(tag: string): string {
  const { language, region } = new Intl.Locale(tag).maximize();
  return `${language}_${region}`;
}

function meta(kind: 'name' | 'property', key: string, content: string): string {
  return `<meta ${kind}="${key}" content="${escape(content)}" />`;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}

const { siteUrl } = brand;
const organization = {
  '@type': 'Organization',
  '@id': `${siteUrl}/#organization`,
  name: brand.company,
  brand: brand.name,
  url: siteUrl,
  logo: `${siteUrl}/icon-512.png`,
  email: brand.supportEmail,
  telephone: brand.businessPhone,
};

const product = {
  '@type': 'Product',
  '@id': `${siteUrl}/#product`,
  name: brand.name,
  description: pages['/']?.description,
  image: `${siteUrl}/og.png`,
  brand: { '@type': 'Brand', name: brand.name },
  offers: plansOnSale().map(offer),
};

function structuredData(path: string): string | null {
  if (path !== '/' && path !== '/plans') return null;
  const graph = { '@context': 'https://schema.org', '@graph': [organization, product] };
  // A closing tag inside the JSON would end the script element.
  return JSON.stringify(graph).replaceAll('<', '\\u003c');
}

function offer(plan: Plan) {
  const { name, description } = planTexts(plan.id);
  const price = (plan.weeklyCents / 100).toFixed(2);
  return {
    '@type': 'Offer',
    name,
    description,
    url: `${siteUrl}${basePath}/plans`,
    price,
    priceCurrency: 'USD',
    availability: 'https://schema.org/InStock',
    priceSpecification: {
      '@type': 'UnitPriceSpecification',
      price,
      priceCurrency: 'USD',
      billingDuration: 1,
      unitCode: 'WEE',
    },
  };
}
