import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import {
  type CountryHelp,
  countryName,
  helpFor,
  type HelpWay,
  helpWays,
  inReadingOrder,
} from '../rules/help-ways.ts';
import { css } from '#styled/css';
import { alert, link, button } from '#styled/recipes';
import { helpWords, helpLineWords } from '#words/help';
import { locale } from '#words/language';
import { languageNames } from '#words/intl';
import { ExternalLink } from './external-link.tsx';
import { Sentence } from './text.tsx';
import type { HelpLine } from '#contract/help-line';
import { sourceDate } from '../rules/formats.ts';

type Props = {
  /** ISO codes: the connection's first, then the number's. */
  countries: readonly string[];
  /** Between the emergency sentence and the lines. */
  children?: ReactNode;
  /** False on the page of all countries. */
  linksToAll?: boolean;
};

/** Shows the crisis lines without any request. */
export function HelpPanel({ countries, children, linksToAll = false }: Props) {
  const found = helpFor(countries);
  return (
    <div className={css({ display: 'grid', gap: '6' })}>
      <div className={alert({ look: 'warm' })}>
        <p>
          <strong className={css({ textStyle: 'lead' })}>{helpWords.emergency}</strong>{' '}
          {helpWords.notCrisis}
        </p>
      </div>
      {children}
      <div
        aria-live="polite"
        className={css({ display: 'grid', gap: '6' })}
      >
        {found.map((help) => (
          <Country
            key={help.country}
            {...help}
          />
        ))}
        {found.some(({ lines }) => lines.length > 0) && <p>{helpWords.busy}</p>}
        <p>
          <Sentence parts={helpWords.elsewhere({ finder })} />
        </p>
        {linksToAll && (
          <Link
            to="/help-now"
            className={link()}
          >
            {helpWords.all}
          </Link>
        )}
      </div>
    </div>
  );
}

const finder = (text: string) => (
  <ExternalLink
    href="https://findahelpline.com/"
    className={link()}
    label={text}
  />
);

function Country({ country, lines }: CountryHelp) {
  const id = `help-${country}`;
  return (
    <section
      aria-labelledby={id}
      className={css({ display: 'grid', gap: '3' })}
    >
      <h2
        id={id}
        className={css({ textStyle: 'subheading' })}
      >
        {countryName(country)}
      </h2>
      {lines.length > 0 ? <HelpLines lines={lines} /> : <p>{helpWords.noLine}</p>}
    </section>
  );
}

export function HelpLines({ lines }: { lines: readonly HelpLine[] }) {
  return (
    <ul className={css({ display: 'grid', gap: '6' })}>
      {inReadingOrder(lines).map((line) => (
        <li
          key={line.service}
          className={css({ display: 'grid', gap: '2' })}
        >
          <Service {...line} />
          {helpWays(line).map((way) => (
            <Way
              key={way.label}
              {...way}
            />
          ))}
          <Details {...line} />
        </li>
      ))}
    </ul>
  );
}

function Service({ service, translated, languages }: HelpLine) {
  return (
    <p>
      <strong
        lang={languages?.[0] ?? locale}
        className={css({ fontWeight: 'semibold' })}
      >
        {service}
      </strong>
      {translated && <span>{` (${helpLineWords.services[translated]})`}</span>}
    </p>
  );
}

function Way({ label, href, note, isWebsite }: HelpWay) {
  return (
    <p
      className={css({
        display: 'flex',
        flexWrap: 'wrap',
        alignItems: 'center',
        gap: '3',
      })}
    >
      {href === undefined && <span className={css({ fontWeight: 'semibold' })}>{label}</span>}
      {href && isWebsite && (
        <ExternalLink
          href={href}
          className={button({ look: 'soft' })}
          label={label}
        />
      )}
      {href && !isWebsite && (
        <a
          href={href}
          className={button({ look: 'soft' })}
        >
          {label}
        </a>
      )}
      {note && <span className={css({ fontSize: 'sm' })}>{note}</span>}
    </p>
  );
}

function Details({ area, languages, languagesAtTimes, readOn }: HelpLine) {
  const names = (list: HelpLine['languagesAtTimes']) =>
    list?.map((code) => languageNames[code]).join(', ');
  const facts = [
    area && helpLineWords.areas[area],
    languages && helpLineWords.languages(names(languages) ?? ''),
    languagesAtTimes && helpLineWords.languagesAtTimes(names(languagesAtTimes) ?? ''),
    helpLineWords.source(sourceDate(readOn)),
  ].filter((fact) => fact !== undefined);
  return <p className={css({ textStyle: 'small', color: 'muted' })}>{facts.join(' · ')}</p>;
}
