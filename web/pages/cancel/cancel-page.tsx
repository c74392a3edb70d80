import { Link } from '@tanstack/react-router';
import { useEffect, useRef, type MouseEvent } from 'react';
import { css } from '#styled/css';
import { button, page, prose } from '#styled/recipes';
import { useFreshProfile } from '../../data/profile-query.ts';
import { useTrialSubscription } from '../../data/trial-subscription.ts';
import { useSession } from '../../data/session.ts';
import { cancelView } from '../../rules/cancel-view.ts';
import type { User } from '../../rules/user-profile.ts';
import { Card } from '../../ui/card.tsx';
import { NeedsScript } from '../../ui/form-fields.tsx';
import { Refusal } from '../../ui/refusal.tsx';
import { Spinner } from '../../ui/spinner.tsx';
import { cancelWords } from '#words/cancel';
import { CancelReasonQuestion } from './cancel-reason-question.tsx';
import { useCancellation } from './use-cancellation.ts';

/** Guests are led to the login; the served HTML explains it to them. */
export function CancelPage() {
  const user = useSession((current) => current.user);
  const token = useSession((current) => current.token);
  return (
    <div className={`${page({ width: 'form' })} ${css({ display: 'grid', gap: '6' })}`}>
      <Card id="cancel">
        <h1
          id="cancel"
          className={css({ textStyle: 'heading' })}
        >
          {cancelWords.title}
        </h1>
        {user && token !== null ? (
          <Subscription
            key={token}
            user={user}
            token={token}
          />
        ) : (
          <Guest />
        )}
      </Card>
      <section
        className={prose()}
        aria-labelledby="what"
      >
        <h2 id="what">{cancelWords.what}</h2>
        <ul>
          {cancelWords.points.map((point) => (
            <li key={point}>{point}</li>
          ))}
        </ul>
      </section>
    </div>
  );
}

function Guest() {
  return (
    <>
      <p className={css({ color: 'muted' })}>{cancelWords.lead}</p>
      <NeedsScript />
      <Link
        to="/login"
        search={{ next: '/cancel' }}
        className={button({ size: 'lg', wide: true })}
      >
        {cancelWords.login}
      </Link>
    </>
  );
}

function Subscription({ user, token }: { user: User; token: string }) {
  const { subscription, refetchSubscription } = useTrialSubscription(user, token);
  const { hasCancelled, running, failure, cancel, resume } = useCancellation(refetchSubscription);
  const { plan, text, action } = cancelView(user, subscription);
  const status = useRef<HTMLDivElement>(null);
  useFreshProfile();
  // The button with the focus is gone.
  useEffect(() => {
    if (hasCancelled) status.current?.focus();
  }, [hasCancelled]);
  return (
    <>
      <div
        ref={status}
        tabIndex={-1}
        className={css({ display: 'grid', gap: '2', outline: 'none' })}
      >
        <p className={css({ textStyle: 'subheading', color: 'primary' })}>{plan}</p>
        {text === null ? <Spinner label={cancelWords.loading} /> : <p>{text}</p>}
      </div>
      {failure && <Refusal {...failure} />}
      {action === 'cancel' && (
        <PlanChangeButton
          className={cancelButton}
          isRunning={running === 'cancelPlan'}
          isBusy={running !== null}
          label={cancelWords.cancel}
          runningLabel={cancelWords.cancelling}
          onClick={cancel}
        />
      )}
      {action === 'resume' && (
        <PlanChangeButton
          className={keepButton}
          isRunning={running === 'resumePlan'}
          isBusy={running !== null}
          label={cancelWords.keep}
          runningLabel={cancelWords.keeping}
          onClick={resume}
        />
      )}
      {action === 'resume' && hasCancelled && <CancelReasonQuestion />}
      <Link
        to={action === null ? '/plans' : '/account'}
        className={button({ look: 'quiet', wide: true })}
      >
        {action === null ? cancelWords.plans : cancelWords.account}
      </Link>
    </>
  );
}

type ButtonProps = {
  className: string;
  isRunning: boolean;
  isBusy: boolean;
  label: string;
  runningLabel: string;
  onClick: (event: MouseEvent) => void;
};

function PlanChangeButton({
  className,
  isRunning,
  isBusy,
  label,
  runningLabel,
  onClick,
}: ButtonProps) {
  return (
    <button
      type="button"
      className={className}
      aria-disabled={isBusy}
      onClick={onClick}
    >
      {isRunning ? runningLabel : label}
    </button>
  );
}

const cancelButton = button({ look: 'danger', size: 'lg', wide: true });
const keepButton = button({ look: 'outline', size: 'lg', wide: true });
