import { helpLines } from '#contract/help-lines';
import { css } from '#styled/css';
import { HelpLines } from '../../ui/help/help-lines.tsx';
import { helpWords } from '../../words/help.ts';

/** All countries, each as a disclosure. */
export function CountryList() {
  return (
    <section aria-labelledby="countries" className={css({ display: 'grid', gap: '3' })}>
      <h2 id="countries" className={css({ textStyle: 'subheading' })}>
        {helpWords.all}
      </h2>
      <ul
        className={css({
          display: 'grid',
          gridTemplateColumns: { base: '[minmax(0, 1fr)]', md: '[repeat(2, minmax(0, 1fr))]' },
          columnGap: '6',
        })}
      >
        {Object.entries(helpLines).map(([code, { name, lines }]) => (
          <li key={code} className={css({ borderBottomWidth: 'thin', borderColor: 'line' })}>
            <details>
              <summary className={css({ paddingBlock: '3', cursor: 'pointer', fontWeight: 'semibold' })}>
                {name}
              </summary>
              <div className={css({ paddingBottom: '6' })}>
                <HelpLines lines={lines} />
              </div>
            </details>
          </li>
        ))}
      </ul>
    </section>
  );
}
