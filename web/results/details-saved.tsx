import { css } from '#styled/css';
import { notify } from '../notices.ts';
import { Icon } from '../ui/icon.tsx';
import { Verdict } from '../ui/verdict.tsx';
import { detailsSavedWords } from '../words/results.ts';
import { AccountOrHome } from './account-or-home.tsx';
import { refreshUser } from './refresh-user.ts';
import { useAfter } from './use-after.ts';

/** The return from saving a payment method. */
export function DetailsSaved({ sessionId }: { sessionId: string | undefined }) {
  const isDone = useAfter(2000, async () => {
    await refreshUser(sessionId).catch(() => null);
    notify({ type: 'success', title: detailsSavedWords.title, description: detailsSavedWords.text });
  });
  if (!isDone) return <Verdict mood="busy" title={detailsSavedWords.verifying} />;
  return (
    <Verdict mood="good" title={detailsSavedWords.title} text={detailsSavedWords.text}>
      <ul className={css({ display: 'grid', gap: '3', textAlign: 'start' })}>
        {detailsSavedWords.points.map((point) => (
          <li key={point} className={css({ display: 'flex', gap: '3' })}>
            <span className={css({ color: 'primary' })}>
              <Icon name="check" />
            </span>
            {point}
          </li>
        ))}
      </ul>
      <AccountOrHome account={detailsSavedWords.account} home={detailsSavedWords.home} />
    </Verdict>
  );
}
