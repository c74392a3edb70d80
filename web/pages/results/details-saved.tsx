import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { css } from '#styled/css';
import { button } from '#styled/recipes';
import { ResultPage } from '../../ui/result-page.tsx';
import { detailsSavedWords } from '#words/results';
import { showToast } from '../../data/toasts.ts';
import { Icon } from '../../ui/icons.tsx';
import {
  AccountOrHome,
  CheckoutUnchecked,
  refreshAfterCheckout,
  supportText,
  useDelayedAction,
  type CheckoutResult,
} from './checkout-result.tsx';

export function DetailsSaved({ sessionId }: { sessionId: string | undefined }) {
  const [found, setFound] = useState<CheckoutResult | null>(null);
  const isDone = useDelayedAction(2000, async () => {
    const fresh = await refreshAfterCheckout(sessionId).catch(() => null);
    setFound(fresh);
    if (!fresh?.isComplete) return;
    showToast({
      type: 'success',
      title: detailsSavedWords.title,
      description: detailsSavedWords.text,
    });
  });

  if (!isDone)
    return (
      <ResultPage
        mood="busy"
        title={detailsSavedWords.verifying}
      />
    );
  if (!found?.isComplete) return <CheckoutUnchecked />;
  if (found.isPlanRefused) return <PlanRefused />;

  return (
    <ResultPage
      mood="good"
      title={detailsSavedWords.title}
      text={detailsSavedWords.text}
    >
      <SavedPoints />
      <AccountOrHome
        account={detailsSavedWords.account}
        home={detailsSavedWords.home}
      />
    </ResultPage>
  );
}

function SavedPoints() {
  return (
    <ul className={css({ display: 'grid', gap: '3', textAlign: 'start' })}>
      {detailsSavedWords.points.map((point) => (
        <li
          key={point}
          className={css({ display: 'flex', gap: '3' })}
        >
          <span className={css({ flexShrink: '0', color: 'primary' })}>
            <Icon name="check" />
          </span>
          {point}
        </li>
      ))}
    </ul>
  );
}

function PlanRefused() {
  return (
    <ResultPage
      mood="pause"
      title={detailsSavedWords.refusedTitle}
      text={detailsSavedWords.refusedText}
      below={supportText}
    >
      <Link
        to="/plans"
        className={button()}
      >
        {detailsSavedWords.choose}
      </Link>
    </ResultPage>
  );
}
