import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { button } from '#styled/recipes';
import { notify } from '../notices.ts';
import { activateTrial } from '../sign-in.ts';
import { Verdict } from '../ui/verdict.tsx';
import { trialWords } from '../words/results.ts';

/** Turns a trial link into a session. */
export function ActivateTrial({ token }: { token: string | undefined }) {
  const [problem, setProblem] = useState<string>();
  const navigate = useNavigate();
  const wasAsked = useRef(false);
  useEffect(() => {
    // A link works once, so it must not be asked for twice.
    if (wasAsked.current) return;
    wasAsked.current = true;
    void activateTrial(token).then(async ({ success, message }) => {
      if (!success) return setProblem(message ?? trialWords.failed);
      notify({ type: 'success', title: trialWords.activated });
      return navigate({ to: '/account', replace: true });
    });
  }, [token, navigate]);
  if (problem === undefined) return <Verdict mood="busy" title={trialWords.activating} text={trialWords.text} />;
  return (
    <Verdict mood="bad" title={trialWords.failedTitle} text={problem}>
      <Link to="/login" className={button()}>
        {trialWords.login}
      </Link>
    </Verdict>
  );
}
