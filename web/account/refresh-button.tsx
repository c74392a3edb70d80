import { useState } from 'react';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { notify } from '../notices.ts';
import { fetchProfile } from '../profile.ts';
import { tell } from '../tell.ts';
import { Icon } from '../ui/icon.tsx';
import { accountWords } from '../words/account.ts';

/** Fetches the profile on request and says how it went. */
export function RefreshButton({ label }: { label: string }) {
  const [isBusy, setBusy] = useState(false);
  const refresh = async () => {
    if (isBusy) return;
    setBusy(true);
    const outcome = await fetchProfile();
    setBusy(false);
    if (outcome.success)
      return notify({ type: 'success', title: accountWords.success, description: accountWords.refreshed });
    tell(outcome.problem, { title: accountWords.error, text: accountWords.refreshFailed });
  };
  return (
    <button
      type="button"
      className={button({ look: 'quiet', size: 'icon' })}
      aria-label={label}
      title={label}
      aria-busy={isBusy}
      onClick={() => void refresh()}
    >
      <span className={turning} data-busy={isBusy}>
        <Icon name="refresh" />
      </span>
    </button>
  );
}

const turning = css({ '&[data-busy=true]': { _calm: { animation: '[spin 900ms linear infinite]' } } });
