import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { helpLines } from '#contract/help-lines';
import { css } from '#styled/css';
import { link, page } from '#styled/recipes';
import { useHelpCountries } from '../../data/use-help-countries.ts';
import { HelpPanel } from '../../ui/help/help-panel.tsx';
import { helpWords } from '../../words/help.ts';
import { CountryChoice } from './country-choice.tsx';
import { CountryList } from './country-list.tsx';

/** Crisis lines by country. Without JavaScript the list of all countries shows them. */
export function HelpPage() {
  const preset = useHelpCountries();
  const [chosen, setChosen] = useState<string | null>(null);
  const countries = chosen === null ? preset : [chosen];
  return (
    <div className={`${page({ width: 'reading' })} ${css({ display: 'grid', gap: '8' })}`}>
      <header className={css({ display: 'grid', gap: '3' })}>
        <h1 className={css({ textStyle: 'title' })}>{helpWords.title}</h1>
        <p className={css({ textStyle: 'lead', color: 'muted' })}>{helpWords.lead}</p>
      </header>
      <HelpPanel countries={countries}>
        <CountryChoice country={choiceOf(countries)} choose={setChosen} />
      </HelpPanel>
      <CountryList />
      <p>
        <Link to="/safety" className={link()}>
          {helpWords.safety}
        </Link>
      </p>
    </div>
  );
}

/** The first of the countries, if it has a line that can be chosen. */
function choiceOf([country = '']: readonly string[]): string {
  return Object.hasOwn(helpLines, country) ? country : '';
}
