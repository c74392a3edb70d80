import { useState } from 'react';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { notify } from '../../data/notices.ts';
import { fetchProfile } from '../../data/me.ts';
import { notifyError } from '../../data/error-handler.ts';
import { Icon } from '../../ui/icon.tsx';
import { accountWords } from '../../words/account.ts';

/** Fetches the profile and shows the result. */
export function RefreshButton({ label }: { label: string }) {
  const [isBusy, setBusy] = useState(false);
  const refresh = async () => {
    if (isBusy) return;
    setBusy(true);
    const result = await fetchProfile();
    setBusy(false);
    if (result.success)
      return notify({ type: 'success', title: accountWords.success, description: accountWords.refreshed });
    notifyError(result.error, { title: accountWords.error, text: accountWords.refreshFailed });
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
