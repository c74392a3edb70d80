import { Suspense, lazy, useState } from 'react';
import { button } from '#styled/recipes';
import { brand } from '#contract/brand';
import { request } from '../../data/api-client.ts';
import { notifyError, openAfterLoading } from '../../data/api-errors.ts';
import { Spinner } from '../../ui/spinner.tsx';
import { accountWords, privacyWords } from '#words/account';
import { Action } from './account-layout.tsx';

const loadList = () => import('./session-list.tsx');
const SessionList = lazy(loadList);

export function PrivacyActions({ isDisabled }: { isDisabled: boolean }) {
  const [isDownloading, setDownloading] = useState(false);
  const [showsSessions, setShowsSessions] = useState(false);

  const download = async () => {
    setDownloading(true);
    try {
      await downloadMyData();
    } catch (error) {
      notifyError(error, { title: accountWords.error, fallback: privacyWords.downloadFailed });
    }
    setDownloading(false);
  };

  return (
    <>
      <Action
        id="download"
        hint={privacyWords.downloadHint}
      >
        <button
          type="button"
          className={button({ look: 'outline', wide: true })}
          aria-describedby="download-hint"
          disabled={isDisabled || isDownloading}
          onClick={() => void download()}
        >
          {isDownloading ? privacyWords.downloading : privacyWords.download}
        </button>
      </Action>
      <Action
        id="sessions"
        hint={privacyWords.sessionsHint}
      >
        <button
          type="button"
          className={button({ look: 'outline', wide: true })}
          aria-describedby="sessions-hint"
          aria-expanded={showsSessions}
          disabled={isDisabled}
          onClick={() => openAfterLoading(loadList, () => setShowsSessions((shown) => !shown))}
        >
          {privacyWords.sessions}
        </button>
      </Action>
      {showsSessions && (
        <Suspense fallback={<Spinner label={privacyWords.sessionsLoading} />}>
          <SessionList isDisabled={isDisabled} />
        </Suspense>
      )}
    </>
  );
}

async function downloadMyData(): Promise<void> {
  const data: unknown = await request('exportMe');
  const file = new Blob([JSON.stringify(data, null, 2)], { type: 'application/json' });
  const url = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = url;
  link.download = `${brand.name.toLowerCase()}-data-${new Date().toISOString().slice(0, 10)}.json`;
  link.click();
  URL.revokeObjectURL(url);
}
