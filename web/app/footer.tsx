import { Link, useLocation } from '@tanstack/react-router';
import { brand } from '#contract/brand';
import { pathIn } from '#contract/languages';
import { css } from '#styled/css';
import { button, link } from '#styled/recipes';
import { isTranslated, isWithdrawable, locale } from '#words/language';
import { offered } from './language-addresses.ts';
import { footerWords, layoutWords } from '#words/layout';

export function Footer() {
  return (
    <footer className={foot}>
      <div className={inner}>
        <div
          className={css({ display: 'grid', gap: '3', maxWidth: '[38rem]', textWrap: '[pretty]' })}
        >
          <p>{footerWords.notice}</p>
          <p>{footerWords.crisis}</p>
        </div>
        <div className={css({ display: 'flex', flexWrap: 'wrap', gap: '4', alignItems: 'center' })}>
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
        <nav
          aria-label={layoutWords.footerNavigation}
          className={css({ display: 'flex', flexWrap: 'wrap', columnGap: '6', rowGap: '2' })}
        >
          <Link
            to="/plans"
            className={link()}
          >
            {footerWords.plans}
          </Link>
          <Link
            to="/cancel"
            className={link()}
          >
            {footerWords.cancel}
          </Link>
          {isWithdrawable && (
            <Link
              to="/withdraw"
              className={link()}
            >
              {footerWords.withdraw}
            </Link>
          )}
          <Link
            to="/safety"
            className={link()}
          >
            {footerWords.safety}
          </Link>
          <Link
            to="/terms"
            className={link()}
          >
            {footerWords.terms}
          </Link>
          <Link
            to="/privacy"
            className={link()}
          >
            {footerWords.privacy}
          </Link>
        </nav>
        {isTranslated && <Languages />}
        <p>{footerWords.copyright}</p>
      </div>
    </footer>
  );
}

/** Plain links, so that a change of language loads the page anew. `head-script.ts` remembers a click. */
function Languages() {
  const { pathname, searchStr } = useLocation();
  return (
    <nav
      aria-label={footerWords.languages}
      className={css({ display: 'flex', flexWrap: 'wrap', columnGap: '6', rowGap: '2' })}
    >
      {offered.map(({ tag, name }) => (
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
