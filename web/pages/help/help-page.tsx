import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { helpLines } from '#contract/help-lines';
import { css } from '#styled/css';
import { link, page, field } from '#styled/recipes';
import { useHelpCountries } from '../../data/help-countries.ts';
import { HelpPanel, HelpLines } from '../../ui/help-panel.tsx';
import { helpWords } from '#words/help';
import { helpCountries } from '../../rules/help-ways.ts';
import { markAttributes } from '../../start/protocol.ts';
import { Icon } from '../../ui/icons.tsx';

export function HelpPage() {
  return (
    <div className={`${page({ width: 'reading' })} ${css({ display: 'grid', gap: '8' })}`}>
      <header className={css({ display: 'grid', gap: '3' })}>
        <h1 className={css({ textStyle: 'title' })}>{helpWords.title}</h1>
        <p className={css({ textStyle: 'lead', color: 'muted' })}>{helpWords.lead}</p>
      </header>
      <ChosenHelp />
      <CountryList />
      <p>
        <Link
          to="/safety"
          className={link()}
        >
          {helpWords.safety}
        </Link>
      </p>
    </div>
  );
}

function ChosenHelp() {
  const preset = useHelpCountries();
  const [chosen, setChosen] = useState<string | null>(null);
  const countries = chosen === null ? preset : [chosen];
  return (
    <HelpPanel countries={countries}>
      <CountryChoice
        country={choiceOf(countries)}
        choose={setChosen}
      />
    </HelpPanel>
  );
}

function choiceOf([country = '']: readonly string[]): string {
  return Object.hasOwn(helpLines, country) ? country : '';
}

type Props = { country: string; choose: (country: string) => void };

function CountryChoice({ country, choose }: Props) {
  const styles = field();
  return (
    <div
      {...markAttributes({ needs: 'scripts' })}
      className={`${styles.root} ${css({ _unscripted: { display: 'none' } })}`}
    >
      <label
        htmlFor="country"
        className={styles.label}
      >
        {helpWords.country}
      </label>
      <div className={css({ position: 'relative' })}>
        <select
          id="country"
          className={`${styles.input} ${css({ appearance: 'none', cursor: 'pointer' })}`}
          aria-describedby="country-hint"
          value={country}
          onChange={({ target }) => choose(target.value)}
        >
          <option value="">{helpWords.choose}</option>
          {helpCountries.map(([code, name]) => (
            <option
              key={code}
              value={code}
            >
              {name}
            </option>
          ))}
        </select>
        <span className={arrow}>
          <Icon name="chevron" />
        </span>
      </div>
      <p
        id="country-hint"
        className={styles.hint}
      >
        {helpWords.countryHint}
      </p>
    </div>
  );
}

// Chromium draws its own arrow at the very edge.
const arrow = css({
  position: 'absolute',
  insetBlock: '0',
  insetInlineEnd: '4',
  display: 'grid',
  alignItems: 'center',
  pointerEvents: 'none',
});

function CountryList() {
  return (
    <section
      aria-labelledby="countries"
      className={css({ display: 'grid', gap: '3' })}
    >
      <h2
        id="countries"
        className={css({ textStyle: 'subheading' })}
      >
        {helpWords.all}
      </h2>
      <ul
        className={css({
          display: 'grid',
          gridTemplateColumns: { base: '[minmax(0, 1fr)]', md: '[repeat(2, minmax(0, 1fr))]' },
          columnGap: '6',
          // Half of the layout is below the first screen.
          contentVisibility: 'auto',
          containIntrinsicBlockSize: '[auto 3500px]',
        })}
      >
        {helpCountries.map(([code, name]) => (
          <Country
            key={code}
            code={code}
            name={name}
          />
        ))}
      </ul>
    </section>
  );
}

function Country({ code, name }: { code: string; name: string }) {
  const id = `country-${code}`;
  // A translator makes React render anew: what is open stays.
  const [isOpen] = useState(() => isShownOpen(id));
  return (
    <li className={css({ borderBottomWidth: 'thin', borderColor: 'line' })}>
      <details
        id={id}
        open={isOpen}
      >
        <summary
          className={css({
            paddingBlock: '3',
            cursor: 'pointer',
            fontWeight: 'semibold',
            // The list cuts what stands out.
            outlineOffset: '[-3px]',
          })}
        >
          {name}
        </summary>
        <div className={css({ paddingBottom: '6' })}>
          <HelpLines lines={helpLines[code]?.lines ?? []} />
        </div>
      </details>
    </li>
  );
}

const isShownOpen = (id: string): boolean =>
  typeof document !== 'undefined' && document.querySelector(`#${id}[open]`) !== null;
