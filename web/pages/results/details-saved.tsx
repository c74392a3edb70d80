import { css } from '#styled/css';
import { notify } from '../../data/notices.ts';
import { Icon } from '../../ui/icon.tsx';
import { ResultPage } from '../../ui/result-page.tsx';
import { detailsSavedWords } from '../../words/results.ts';
import { AccountOrHome } from './account-or-home.tsx';
import { refreshAccount } from './refresh-account.ts';
import { useDelayedAction } from './use-delayed-action.ts';

/** The page after a payment method was saved. */
export function DetailsSaved({ sessionId }: { sessionId: string | undefined }) {
  const isDone = useDelayedAction(2000, async () => {
    await refreshAccount(sessionId).catch(() => null);
    notify({ type: 'success', title: detailsSavedWords.title, description: detailsSavedWords.text });
  });
  if (!isDone) return <ResultPage mood="busy" title={detailsSavedWords.verifying} />;
  return (
    <ResultPage mood="good" title={detailsSavedWords.title} text={detailsSavedWords.text}>
      <ul className={css({ display: 'grid', gap: '3', textAlign: 'start' })}>
        {detailsSavedWords.points.map((point) => (
          <li key={point} className={css({ display: 'flex', gap: '3' })}>
            <span className={css({ flexShrink: '0', color: 'primary' })}>
              <Icon name="check" />
            </span>
            {point}
          </li>
        ))}
      </ul>
      <AccountOrHome account={detailsSavedWords.account} home={detailsSavedWords.home} />
    </ResultPage>
  );
}
