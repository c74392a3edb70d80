import { brand } from '#contract/brand';
import { type Plan, plansOnSale } from '#contract/plans';
import { pages } from '../words/page-heads.ts';

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

/** Structured data about the organization or the plans; null for other pages. */
export function structuredData(path: string): string | null {
  if (path !== '/' && path !== '/plans') return null;
  const graph = { '@context': 'https://schema.org', '@graph': [organization, product] };
  // A closing tag inside the JSON would end the script element.
  return JSON.stringify(graph).replaceAll('<', '\\u003c');
}

function offer(plan: Plan) {
  const price = (plan.weeklyCents / 100).toFixed(2);
  return {
    '@type': 'Offer',
    name: plan.name,
    description: plan.description,
    url: `${siteUrl}/plans`,
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
