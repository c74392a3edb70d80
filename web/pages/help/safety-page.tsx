import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { Output } from '#contract/endpoints';
import { pageRoutes } from '#contract/routes';
import { css } from '#styled/css';
import { button, page, prose } from '#styled/recipes';
import { request } from '../../data/api-client.ts';
import { apiBase } from '../../data/build-settings.ts';
import { formatDate } from '../../rules/formats.ts';
import { Sentence } from '../../ui/text.tsx';
import { referralWords, safetyWords } from '#words/help';

/** A change of what Solace does gets a new version. */
const protocol = { version: '2', date: '2026-11-23' };
const countedSince = '2026-11-23';

export function SafetyPage() {
  return (
    <article className={page({ width: 'reading' })}>
      <header
        className={css({
          display: 'grid',
          gap: '4',
          justifyItems: 'start',
        })}
      >
        <h1 className={css({ textStyle: 'title' })}>{safetyWords.title}</h1>
        <p className={css({ textStyle: 'small', color: 'muted' })}>
          {safetyWords.protocol({
            version: protocol.version,
            date: formatDate(protocol.date, 'UTC'),
          })}
        </p>
        <p className={css({ textStyle: 'lead' })}>{safetyWords.lead}</p>
        <Link
          to="/help-now"
          className={button()}
        >
          {safetyWords.help}
        </Link>
      </header>
      <div className={prose()}>
        {safetyWords.sections.map(({ title, points }) => (
          <section key={title}>
            <h2>{title}</h2>
            <ul>
              {points.map((point) => (
                <li key={point}>{point}</li>
              ))}
            </ul>
          </section>
        ))}
        <Referrals />
        <p>
          <Sentence parts={safetyWords.wrong({ contact })} />
        </p>
      </div>
    </article>
  );
}

const contact = (text: string) => <Link to="/contact">{text}</Link>;

function Referrals() {
  const lines = useTotals();
  return (
    <section aria-labelledby="referrals">
      <h2 id="referrals">{referralWords.title}</h2>
      <p
        className={numbers}
        aria-busy={lines === null}
      >
        {lines?.map((line) => (
          <span key={line}>{line}</span>
        ))}
      </p>
      <ul>
        <li>{referralWords.text}</li>
        <li>{referralWords.kept}</li>
        <li>{referralWords.since(formatDate(countedSince, 'UTC'))}</li>
      </ul>
      <noscript>
        <p>
          <a href={apiBase + pageRoutes.getSafety.path}>{referralWords.data}</a>
        </p>
      </noscript>
    </section>
  );
}

/** Null before the response. */
function useTotals(): string[] | null {
  const [lines, setLines] = useState<string[] | null>(null);
  useEffect(() => {
    request('getSafety').then(
      ({ referrals }) => setLines(linesOf(referrals)),
      () => setLines([referralWords.unavailable]),
    );
  }, []);
  return lines;
}

function linesOf({ lastYear, thisYear }: Output<'getSafety'>['referrals']): string[] {
  const last = String(lastYear.year);
  const present = String(thisYear.year);
  const isCounted = last >= countedSince.slice(0, 4);
  return [
    isCounted
      ? referralWords.year({ year: last, count: lastYear.total })
      : referralWords.uncounted(last),
    referralWords.thisYear({ year: present, count: thisYear.total }),
  ];
}

/** Two lines, so that nothing moves. */
const numbers = css({
  display: 'grid',
  alignContent: 'start',
  minHeight: '[2.6em]',
  textStyle: 'subheading',
  fontVariantNumeric: 'tabular-nums',
  _unscripted: { display: 'none' },
});
