import { Link, useLocation } from '@tanstack/react-router';
import { brand } from '#contract/brand';
import { pathIn } from '#contract/languages';
import { css } from '#styled/css';
import { button, link } from '#styled/recipes';
import { isTranslated, isWithdrawable, locale } from '#words/language';
import { offeredLanguages } from './language-addresses.ts';
import { footerWords, layoutWords } from '#words/layout';

const pages = [
  { to: '/plans', text: footerWords.plans },
  { to: '/cancel', text: footerWords.cancel },
  ...(isWithdrawable ? [{ to: '/withdraw', text: footerWords.withdraw } as const] : []),
  { to: '/safety', text: footerWords.safety },
  { to: '/terms', text: footerWords.terms },
  { to: '/privacy', text: footerWords.privacy },
] as const;

export function Footer() {
  return (
    <footer className={foot}>
      <div className={inner}>
        <div
          className={css({
            display: 'grid',
            gap: '3',
            maxWidth: '[38rem]',
            textWrap: '[pretty]',
          })}
        >
          <p>{footerWords.notice}</p>
          <p>{footerWords.crisis}</p>
        </div>
        <Contact />
        <nav
          aria-label={layoutWords.footerNavigation}
          className={css({
            display: 'flex',
            flexWrap: 'wrap',
            columnGap: '6',
            rowGap: '2',
          })}
        >
          {pages.map(({ to, text }) => (
            <Link
              key={to}
              to={to}
              className={link()}
            >
              {text}
            </Link>
          ))}
        </nav>
        {isTranslated && <Languages />}
        <p>{footerWords.copyright}</p>
      </div>
    </footer>
  );
}

function Contact() {
  return (
    <div
      className={css({
        display: 'flex',
        flexWrap: 'wrap',
        gap: '4',
        alignItems: 'center',
      })}
    >
      <Link
        to="/help-now"
        className={button({ look: 'soft' })}
      >
        {footerWords.help}
      </Link>
      <Link
        to="/contact"
        className={button({ look: 'outline' })}
      >
        {footerWords.contact}
      </Link>
      <a
        href={`tel:${brand.businessPhone.replace(/[^\d+]/g, '')}`}
        className={link()}
        aria-label={`${footerWords.phone} ${brand.businessPhone}`}
      >
        <bdi>{brand.businessPhone}</bdi>
      </a>
    </div>
  );
}

/** Plain links load the page anew. */
function Languages() {
  const { pathname, searchStr } = useLocation();
  return (
    <nav
      aria-label={footerWords.languages}
      className={css({
        display: 'flex',
        flexWrap: 'wrap',
        columnGap: '6',
        rowGap: '2',
      })}
    >
      {offeredLanguages.map(({ tag, name }) => (
        <a
          key={tag}
          href={pathIn(tag, pathname) + searchStr}
          lang={tag}
          hrefLang={tag}
          rel="alternate"
          aria-current={tag === locale ? 'true' : undefined}
          className={link()}
        >
          {name}
        </a>
      ))}
    </nav>
  );
}

const foot = css({
  marginTop: 'auto',
  borderTopWidth: 'thin',
  borderColor: 'line',
  backgroundColor: 'surface',
  _print: { display: 'none' },
});

const inner = css({
  display: 'grid',
  gridTemplateColumns: { lg: '[1fr auto]' },
  columnGap: '16',
  rowGap: '6',
  alignItems: 'center',
  maxWidth: 'page',
  marginInline: 'auto',
  paddingInline: 'gutter',
  paddingBlock: '10',
  textStyle: 'small',
  color: 'muted',
});
