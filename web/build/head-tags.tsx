import { basePath, locale } from '#words/language';
import { brand } from '#contract/brand';
import { notFoundHead, pageHead, type PageHead, pages } from '../app/page-heads.ts';
import { offlinePageWords } from '#words/notices';
import { siteWords } from '#words/page-heads';
import { planTexts } from '../rules/plan-texts.ts';
import { markAttributes, offlinePath } from '../start/protocol.ts';
import { addressIn, offeredLanguages } from '../app/language-addresses.ts';
import { palette } from '../theme/palette.ts';
import { decimalOf } from '#contract/money';
import { currency, type Plan, plansOnSale } from '#contract/plans';

const offlineHead: PageHead = {
  ...notFoundHead,
  title: siteWords.titleOnSite(offlinePageWords.title),
};

const headOf = (path: string) => (path === offlinePath ? offlineHead : pageHead(path));

export function HeadTags({ path }: { path: string }) {
  const page = headOf(path);
  const { title, description, isPublic } = page;
  const address = brand.siteUrl + basePath + path;
  // The 404 page is served for any address.
  const hasAddress = page !== notFoundHead && page !== offlineHead;
  return (
    <>
      <title>{title}</title>
      <meta
        name="description"
        content={description}
      />
      <ThemeColor
        scheme="light"
        color={palette.mist[100].value}
      />
      <ThemeColor
        scheme="dark"
        color={palette.spruce[950].value}
      />
      <meta
        name="robots"
        content={isPublic ? 'index, follow' : 'noindex'}
      />
      {hasAddress && (
        <link
          rel="canonical"
          href={address}
        />
      )}
      {isPublic && <Alternates path={path} />}
      {/* Nobody shares a private page. */}
      {isPublic && (
        <Preview
          page={page}
          address={address}
        />
      )}
      {(path === '/' || path === '/plans') && <StructuredData />}
    </>
  );
}

/** `app/theme-choice.ts` sets a chosen theme's colour. */
const ThemeColor = ({ scheme, color }: { scheme: 'light' | 'dark'; color: string }) => (
  <meta
    name="theme-color"
    content={color}
    media={`(prefers-color-scheme: ${scheme})`}
    {...markAttributes({ color })}
  />
);

function Alternates({ path }: { path: string }) {
  const tags =
    offeredLanguages.length > 0 ? [...offeredLanguages.map(({ tag }) => tag), 'x-default'] : [];
  return tags.map((tag) => (
    <link
      key={tag}
      rel="alternate"
      hrefLang={tag}
      href={addressIn(tag, path)}
    />
  ));
}

type PreviewProps = { page: PageHead; address: string };

function Preview({ page: { title, description }, address }: PreviewProps) {
  const image = `${brand.siteUrl}/og.png`;
  const graph = {
    site_name: brand.name,
    type: 'website',
    locale: territoryOf(locale),
    title,
    description,
    url: address,
    image,
    'image:width': '1200',
    'image:height': '630',
    'image:alt': siteWords.pictureText,
  };
  const twitter = { card: 'summary_large_image', title, description, image };
  return (
    <>
      {Object.entries(graph).map(([name, content]) => (
        <meta
          key={name}
          property={`og:${name}`}
          content={content}
        />
      ))}
      {Object.entries(twitter).map(([name, content]) => (
        <meta
          key={name}
          name={`twitter:${name}`}
          content={content}
        />
      ))}
    </>
  );
}

/** Social networks want `en_US`. */
function territoryOf(tag: string): string {
  const { language, region } = new Intl.Locale(tag).maximize();
  return `${language}_${region}`;
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

function StructuredData() {
  const graph = { '@context': 'https://schema.org', '@graph': [organization, product] };
  // A closing tag in the JSON would end the script.
  const text = JSON.stringify(graph).replaceAll('<', '\\u003c');
  return (
    <script
      type="application/ld+json"
      dangerouslySetInnerHTML={{ __html: text }}
    />
  );
}

function offer(plan: Plan) {
  const { name, description } = planTexts(plan.id);
  const price = decimalOf(plan.weeklyCents, currency);
  const priceCurrency = currency.toUpperCase();
  return {
    '@type': 'Offer',
    name,
    description,
    url: `${siteUrl}${basePath}/plans`,
    price,
    priceCurrency,
    availability: 'https://schema.org/InStock',
    priceSpecification: {
      '@type': 'UnitPriceSpecification',
      price,
      priceCurrency,
      billingDuration: 1,
      unitCode: 'WEE',
    },
  };
}
