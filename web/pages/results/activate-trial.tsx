import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { button } from '#styled/recipes';
import { addressToken, clearAddressToken } from '../../start/early-start.ts';
import { showToast } from '../../data/toasts.ts';
import { activateTrial } from '../../data/sign-in.ts';
import { session } from '../../data/session.ts';
import { ResultPage } from '../../ui/result-page.tsx';
import { trialWords } from '#words/results';

export function ActivateTrial() {
  const [error, setError] = useState<string>();
  const navigate = useNavigate();
  const isStarted = useRef(false);

  useEffect(() => {
    // A link can be used once.
    if (isStarted.current) return;

    isStarted.current = true;
    const token = addressToken('trialToken');
    clearAddressToken('trialToken');

    void activateTrial(token).then(({ success, status, message }) => {
      if (!success) return setError(message ?? trialWords.failed);
      if (status !== 'running') showToast({ type: 'success', title: trialWords.activated });
      return navigate({ to: '/account', replace: true });
    });
  }, [navigate]);

  if (error === undefined)
    return (
      <ResultPage
        mood="busy"
        title={trialWords.activating}
        text={trialWords.text}
      />
    );
  return (
    <ResultPage
      mood="bad"
      title={trialWords.failedTitle}
      text={error}
    >
      <Link
        to="/login"
        className={button()}
      >
        {trialWords.login}
      </Link>
      {session.isAside() && <BackToAccount />}
    </ResultPage>
  );
}

/** Their session goes on at the server. */
function BackToAccount() {
  return (
    <Link
      to="/account"
      reloadDocument
      className={button({ look: 'outline' })}
      onClick={() => session.takeBack()}
    >
      {trialWords.back}
    </Link>
  );
}
