import { Link } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useRef } from 'react';
import { css } from '#styled/css';
import { link } from '#styled/recipes';
import { ApiError } from '../../data/api-error.ts';
import { useUnlessExpired } from '../../data/expiry.ts';
import { useSession } from '../../data/session.ts';
import { isAllowanceSpent } from '../../rules/spent-allowance.ts';
import { dayAndTimeText, momentText } from '../../rules/moments.ts';
import { Alert } from '../../ui/alert.tsx';
import { chatWords, composerWords } from '#words/chat';
import { untilWords } from '#words/until';
import { voiceWords } from '#words/voice';

/** `offersHelp` leads to the crisis lines beside a spent allowance. `isInformation` is information, not a failure. */
export type SendError = {
  text: string;
  leadsToPlans: boolean;
  offersHelp: boolean;
  isInformation?: boolean;
  /** When it ends by itself (ISO 8601). */
  until?: string | null;
};

export function sendError(error: unknown): SendError {
  const { code, toast, until } = error instanceof ApiError ? error : unknownError;
  if (code === 'allowance_spent')
    return { text: composerWords.spent, leadsToPlans: true, offersHelp: true, until };
  if (code === 'voice_not_in_plan') return voiceNotInPlan;
  if (code === 'body_too_large') return plainError(voiceWords.tooLarge);
  if (code === 'rate_limited') return { ...plainError(composerWords.tooFast), until };
  return plainError(toast ?? composerWords.failed);
}

const unknownError = { code: null, toast: null, until: null };

export const plainError = (text: string): SendError => ({
  text,
  leadsToPlans: false,
  offersHelp: false,
});

export const voiceNotInPlan: SendError = {
  text: voiceWords.notInPlan,
  leadsToPlans: true,
  offersHelp: false,
};

type ErrorProps = {
  id: string;
  error: SendError;
  openHelp: () => void;
  dismiss: () => void;
};

export function SendErrorText({ id, error, openHelp, dismiss }: ErrorProps) {
  useDismissalOfExpired(error, dismiss);
  return (
    <div
      id={id}
      role={error.isInformation ? 'status' : undefined}
    >
      <Alert look={error.isInformation ? 'calm' : 'danger'}>
        <span>{error.text}</span>
        {error.until && <span>{` ${untilText(error, error.until)}`}</span>}
        {error.leadsToPlans && (
          <span
            className={css({
              display: 'flex',
              flexWrap: 'wrap',
              gap: '4',
            })}
          >
            <Link
              to="/plans"
              className={link()}
            >
              {composerWords.plans}
            </Link>
            {error.offersHelp && (
              <button
                type="button"
                className={link()}
                onClick={openHelp}
              >
                {chatWords.help}
              </button>
            )}
          </span>
        )}
      </Alert>
    </div>
  );
}

function untilText({ leadsToPlans }: SendError, until: string): string {
  return leadsToPlans
    ? untilWords.week(dayAndTimeText(until))
    : untilWords.tryAgain(momentText(until));
}

/** A spent allowance ends also when the count falls. */
function useDismissalOfExpired(error: SendError, dismiss: () => void): void {
  const { until = null, offersHelp: isSpent } = error;
  const isOver = useUnlessExpired({ until }) === null;
  const isFull = useSession(({ user }) => user !== null && isAllowanceSpent(user));
  const wasFull = useRef(isFull);
  const onExpiry = useEffectEvent(dismiss);
  useEffect(() => {
    const hasFallen = isSpent && wasFull.current && !isFull;
    wasFull.current = isFull;
    if (isOver || hasFallen) onExpiry();
  }, [isOver, isSpent, isFull]);
}
