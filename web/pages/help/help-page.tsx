import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { countryOfPhone } from '#contract/country-of-phone';
import { helpLines } from '#contract/help-lines';
import { css } from '#styled/css';
import { link, page } from '#styled/recipes';
import { useSession } from '../../data/use-session.ts';
import { HelpPanel } from '../../ui/help/help-panel.tsx';
import { helpWords } from '../../words/help.ts';
import { CountryChoice } from './country-choice.tsx';
import { CountryList } from './country-list.tsx';

/** Crisis lines by country. Without JavaScript the list of all countries shows them. */
export function HelpPage() {
  const phone = useSession(({ user }) => user?.phoneNumber ?? null);
  const [chosen, setChosen] = useState<string | null>(null);
  const country = chosen ?? presetOf(phone);
  return (
    <div className={`${page({ width: 'reading' })} ${css({ display: 'grid', gap: '8' })}`}>
      <header className={css({ display: 'grid', gap: '3' })}>
        <h1 className={css({ textStyle: 'title' })}>{helpWords.title}</h1>
        <p className={css({ textStyle: 'lead', color: 'muted' })}>{helpWords.lead}</p>
      </header>
      <HelpPanel countries={[country]}>
        <CountryChoice country={country} choose={setChosen} />
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

/** The number's country, if it has a line. */
function presetOf(phone: string | null): string {
  const country = (phone && countryOfPhone(phone)) ?? '';
  return Object.hasOwn(helpLines, country) ? country : '';
}
