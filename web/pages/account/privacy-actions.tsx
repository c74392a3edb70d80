import { Suspense, lazy, useState } from 'react';
import { button } from '#styled/recipes';
import { brand } from '#contract/brand';
import { request } from '../../data/api-client.ts';
import { fileMissing } from '../../data/api-error.ts';
import { openAfterLoading } from '../../data/error-toasts.ts';
import { lazyWithFallback } from '../../data/loaded-parts.tsx';
import { loadInTime } from '../../data/promise-limit.ts';
import { useAction } from '../../data/use-action.ts';
import { Spinner } from '../../ui/spinner.tsx';
import { accountWords, privacyWords } from '#words/account';
import { AccountAction } from './account-layout.tsx';

const loadList = () => import('./session-list.tsx');
const SessionList = lazy(loadList);
const UnsavedFile = lazyWithFallback(() => import('../../ui/unsaved-file.tsx'));

export function PrivacyActions({ isDisabled }: { isDisabled: boolean }) {
  return (
    <>
      <DownloadData isDisabled={isDisabled} />
      <Sessions isDisabled={isDisabled} />
    </>
  );
}

function DownloadData({ isDisabled }: { isDisabled: boolean }) {
  const [isBusy, run] = useAction();
  const [unsaved, setUnsaved] = useState<string | null>(null);

  const download = async () => {
    const file = await loadMyData();
    const { saveFile } = await loadSaving();
    setUnsaved((await saveFile(file)) ? null : await file.text());
  };

  return (
    <>
      <AccountAction
        id="download"
        hint={privacyWords.downloadHint}
      >
        <button
          type="button"
          className={button({ look: 'outline', wide: true })}
          aria-describedby="download-hint"
          disabled={isDisabled || isBusy}
          onClick={() =>
            run(download, {
              title: accountWords.error,
              fallback: privacyWords.downloadFailed,
            })
          }
        >
          {isBusy ? privacyWords.downloading : privacyWords.download}
        </button>
      </AccountAction>
      <Suspense>{unsaved !== null && <UnsavedFile text={unsaved} />}</Suspense>
    </>
  );
}

const loadSaving = () =>
  loadInTime(import('../../data/save-file.ts')).catch(() => {
    throw fileMissing();
  });

async function loadMyData(): Promise<File> {
  const data: unknown = await request('exportMe');
  const name = `${brand.name.toLowerCase()}-data-${new Date().toISOString().slice(0, 10)}.json`;
  return new File([JSON.stringify(data, null, 2)], name, { type: 'application/json' });
}

function Sessions({ isDisabled }: { isDisabled: boolean }) {
  const [showsSessions, setShowsSessions] = useState(false);
  return (
    <>
      <AccountAction
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
      </AccountAction>
      {showsSessions && (
        <Suspense fallback={<Spinner label={privacyWords.sessionsLoading} />}>
          <SessionList isDisabled={isDisabled} />
        </Suspense>
      )}
    </>
  );
}
