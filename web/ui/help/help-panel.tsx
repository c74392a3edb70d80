import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type CountryHelp, helpFor } from '#contract/help-for';
import { css } from '#styled/css';
import { alert, link } from '#styled/recipes';
import { helpWords } from '../../words/help.ts';
import { ExternalLink } from '../external-link.tsx';
import { HelpLines } from './help-lines.tsx';

type Props = {
  /** ISO codes: the connection's country first, then the phone number's. */
  countries: readonly string[];
  /** The content between the emergency sentence and the lines. */
  children?: ReactNode;
  /** Links to the page with all countries; false on that page itself. */
  linksToAll?: boolean;
};

/** The emergency sentence, the crisis lines of some countries, and a link to all others. It needs no request. */
export function HelpPanel({ countries, children, linksToAll = false }: Props) {
  const found = helpFor(countries);
  return (
    <div className={css({ display: 'grid', gap: '6' })}>
      <div className={alert({ look: 'warm' })}>
        <p>
          <strong className={css({ textStyle: 'lead' })}>{helpWords.emergency}</strong> {helpWords.notCrisis}
        </p>
      </div>
      {children}
      <div aria-live="polite" className={css({ display: 'grid', gap: '6' })}>
        {found.map((help) => (
          <Country key={help.country} {...help} />
        ))}
        {found.some(({ lines }) => lines.length > 0) && <p>{helpWords.busy}</p>}
        <p>
          {helpWords.elsewhere}{' '}
          <ExternalLink href={helpWords.finder.href} className={link()}>
            {helpWords.finder.name}
          </ExternalLink>
          .
        </p>
        {linksToAll && (
          <Link to="/help-now" className={link()}>
            {helpWords.all}
          </Link>
        )}
      </div>
    </div>
  );
}

function Country({ country, name, lines }: CountryHelp) {
  const id = `help-${country}`;
  return (
    <section aria-labelledby={id} className={css({ display: 'grid', gap: '3' })}>
      <h2 id={id} className={css({ textStyle: 'subheading' })}>
        {name ?? new Intl.DisplayNames('en', { type: 'region' }).of(country)}
      </h2>
      {lines.length > 0 ? <HelpLines lines={lines} /> : <p>{helpWords.noLine}</p>}
    </section>
  );
}
