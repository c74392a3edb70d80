import { css } from '#styled/css';
import { notify } from '../notices.ts';
import { Icon } from '../ui/icon.tsx';
import { Verdict } from '../ui/verdict.tsx';
import { Waiting } from '../ui/waiting.tsx';
import { words } from '../words.ts';
import { AccountOrHome } from './account-or-home.tsx';
import { useAfter } from './use-after.ts';

const { detailsSaved } = words;

/** The return from saving a payment method. */
export function DetailsSaved() {
  const isDone = useAfter(2000, async () =>
    notify({ type: 'success', title: detailsSaved.title, description: detailsSaved.text }),
  );
  if (!isDone) return <Waiting label={detailsSaved.verifying} />;
  return (
    <Verdict mood="good" title={detailsSaved.title} text={detailsSaved.text}>
      <ul className={css({ display: 'grid', gap: '3', textAlign: 'start' })}>
        {detailsSaved.points.map((point) => (
          <li key={point} className={css({ display: 'flex', gap: '3' })}>
            <span className={css({ color: 'primary' })}>
              <Icon name="check" />
            </span>
            {point}
          </li>
        ))}
      </ul>
      <AccountOrHome account={detailsSaved.account} home={detailsSaved.home} />
    </Verdict>
  );
}
