import { useState } from 'react';
import { Link } from '@tanstack/react-router';
import { button, link } from '#styled/recipes';
import { footerWords } from '#words/layout';
import { unreachedWords } from '#words/unreached';
import { session } from '../data/session.ts';
import { loadInTime } from '../data/promise-limit.ts';
import { ResultPage } from '../ui/result-page.tsx';

const shortestPauseMs = 1000;
const longestPauseMs = 30_000;

/** Events that may mean that the connection is back. */
const signs = ['online', 'pageshow', 'focus'];

/** Tries again after growing pauses, until the account is here or its session has ended. */
export function untilReached(): Promise<void> {
  return new Promise((resolve) => {
    let pauseMs = shortestPauseMs;
    let timer: ReturnType<typeof setTimeout>;

    const wait = () => {
      timer = setTimeout(soon, pauseMs);
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    };

    const tryNow = async () => {
      clearTimeout(timer);
      await tryAgain();
      clearTimeout(timer);
      if (session.get().isUnreached) wait();
    };

    const follow = () => {
      if (session.get().isUnreached) return;
      unsubscribe();
      clearTimeout(timer);
      for (const sign of signs) removeEventListener(sign, soon);
      resolve();
    };
    const soon = () => void tryNow();

    const unsubscribe = session.subscribe(follow);
    for (const sign of signs) addEventListener(sign, soon);

    wait();
    follow();
  });
}

async function tryAgain(): Promise<void> {
  const { token } = session.get();
  const me = await loadInTime(import('../data/profile-query.ts')).catch(() => null);
  if (token) await me?.restoreSession(token);
}

export default function AccountUnreached() {
  const [isTrying, setTrying] = useState(false);
  const press = async () => {
    if (isTrying) return;
    setTrying(true);
    await tryAgain();
    setTrying(false);
  };
  return (
    <ResultPage
      mood="pause"
      title={unreachedWords.title}
      text={unreachedWords.text}
      below={
        <Link
          to="/help-now"
          className={link()}
        >
          {footerWords.help}
        </Link>
      }
    >
      <button
        type="button"
        className={button()}
        aria-disabled={isTrying}
        onClick={() => void press()}
      >
        {isTrying ? unreachedWords.trying : unreachedWords.again}
      </button>
    </ResultPage>
  );
}
