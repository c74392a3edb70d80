import type { HelpLine } from '#contract/help-line';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { type HelpWay, helpWays } from '../../rules/help-ways.ts';
import { sourceDate } from '../../rules/source-date.ts';
import { helpLineWords, languageNames } from '../../words/help.ts';
import { ExternalLink } from '../external-link.tsx';

/** The crisis lines of one country. */
export function HelpLines({ lines }: { lines: readonly HelpLine[] }) {
  return (
    <ul className={css({ display: 'grid', gap: '6' })}>
      {lines.map((line) => (
        <li key={line.service} className={css({ display: 'grid', gap: '2' })}>
          <Service {...line} />
          {helpWays(line).map((way) => (
            <Way key={way.label} {...way} />
          ))}
          <Details {...line} />
        </li>
      ))}
    </ul>
  );
}

function Service({ service, inEnglish, languages }: HelpLine) {
  return (
    <p>
      <strong lang={languages?.[0] ?? 'en'} className={css({ fontWeight: 'semibold' })}>
        {service}
      </strong>
      {inEnglish && ` (${inEnglish})`}
    </p>
  );
}

function Way({ label, href, note, isWebsite }: HelpWay) {
  return (
    <p className={css({ display: 'flex', flexWrap: 'wrap', alignItems: 'center', gap: '3' })}>
      {href === undefined && <span className={css({ fontWeight: 'semibold' })}>{label}</span>}
      {href && isWebsite && (
        <ExternalLink href={href} className={button({ look: 'soft' })}>
          {label}
        </ExternalLink>
      )}
      {href && !isWebsite && (
        <a href={href} className={button({ look: 'soft' })}>
          {label}
        </a>
      )}
      {note && <span className={css({ fontSize: 'sm' })}>{note}</span>}
    </p>
  );
}

function Details({ area, languages, languagesAtTimes, readOn }: HelpLine) {
  const names = (list: HelpLine['languagesAtTimes']) => list?.map((code) => languageNames[code]).join(', ');
  const facts = [
    area,
    languages && helpLineWords.languages(names(languages) ?? ''),
    languagesAtTimes && helpLineWords.languagesAtTimes(names(languagesAtTimes) ?? ''),
    helpLineWords.source(sourceDate(readOn)),
  ].filter((fact) => fact !== undefined);
  return <p className={css({ textStyle: 'small', color: 'muted' })}>{facts.join(' · ')}</p>;
}
