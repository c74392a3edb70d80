import { Link } from '@tanstack/react-router';
import { css } from '#styled/css';
import { link } from '#styled/recipes';
import { ApiError } from '../../data/api-errors.ts';
import { Alert } from '../../ui/alert.tsx';
import { chatWords, composerWords } from '#words/chat';
import { voiceWords } from '#words/voice';

/** Why a message was not sent, and what to do; with help beside a spent allowance. Nothing has failed yet at a notice. */
export type SendError = {
  text: string;
  leadsToPlans: boolean;
  offersHelp: boolean;
  isNotice?: boolean;
};

export function sendError(error: unknown): SendError {
  const { code, toast } = error instanceof ApiError ? error : { code: null, toast: null };
  if (error instanceof ApiError) error.isNotified = true;
  if (code === 'allowance_spent')
    return { text: composerWords.spent, leadsToPlans: true, offersHelp: true };
  if (code === 'voice_not_in_plan') return voiceNotInPlan;
  if (code === 'body_too_large') return plainError(voiceWords.tooLarge);
  return plainError(
    code === 'rate_limited' ? composerWords.tooFast : (toast ?? composerWords.failed),
  );
}

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

type ErrorProps = { id: string; error: SendError; openHelp: () => void };

export function SendErrorText({ id, error, openHelp }: ErrorProps) {
  return (
    <div id={id} role={error.isNotice ? 'status' : undefined}>
      <Alert look={error.isNotice ? 'calm' : 'danger'}>
        <span>{error.text}</span>
        {error.leadsToPlans && (
          <span className={css({ display: 'flex', flexWrap: 'wrap', gap: '4' })}>
            <Link to="/plans" className={link()}>
              {composerWords.plans}
            </Link>
            {error.offersHelp && (
              <button type="button" className={link()} onClick={openHelp}>
                {chatWords.help}
              </button>
            )}
          </span>
        )}
      </Alert>
    </div>
  );
}
