import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState, type MouseEvent } from 'react';
import { css } from '#styled/css';
import { button, page, prose } from '#styled/recipes';
import { call, request } from '../../data/api-client.ts';
import { ApiError } from '../../data/api-error.ts';
import { failureOf } from '../../data/error-notices.ts';
import { showToast } from '../../data/toasts.ts';
import { refetchProfile, useFreshProfile } from '../../data/profile-query.ts';
import { useTrialSubscription } from '../../data/trial-subscription.ts';
import { useUnlessExpired } from '../../data/expiry.ts';
import { useSession } from '../../data/session.ts';
import { cancelView } from '../../rules/cancel-view.ts';
import { formatDate } from '../../rules/formats.ts';
import type { User } from '../../rules/user-profile.ts';
import { Card } from '../../ui/card.tsx';
import { NeedsScript } from '../../ui/form-fields.tsx';
import { Refusal, type Refused } from '../../ui/refusal.tsx';
import { Spinner } from '../../ui/spinner.tsx';
import { cancelReasonWords, cancelWords } from '#words/cancel';

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
        <button
          type="button"
          className={cancelButton}
          aria-disabled={running !== null}
          onClick={cancel}
        >
          {running === 'cancelPlan' ? cancelWords.cancelling : cancelWords.cancel}
        </button>
      )}
      {action === 'resume' && (
        <button
          type="button"
          className={keepButton}
          aria-disabled={running !== null}
          onClick={resume}
        >
          {running === 'resumePlan' ? cancelWords.keeping : cancelWords.keep}
        </button>
      )}
      {action === 'resume' && hasCancelled && <CancelReason />}
      <Link
        to={action === null ? '/plans' : '/account'}
        className={button({ look: 'quiet', wide: true })}
      >
        {action === null ? cancelWords.plans : cancelWords.account}
      </Link>
    </>
  );
}

const cancelButton = button({ look: 'danger', size: 'lg', wide: true });
const keepButton = button({ look: 'outline', size: 'lg', wide: true });

type PlanChange = 'cancelPlan' | 'resumePlan';

function useCancellation(refetchSubscription: () => Promise<void>) {
  const [hasCancelled, setCancelled] = useState(false);
  const [running, setRunning] = useState<PlanChange | null>(null);
  const [failure, setFailure] = useState<Refused | null>(null);

  const run = async (change: PlanChange, work: () => Promise<void>) => {
    setRunning(change);
    setFailure(null);
    await work().catch(async (error: unknown) => {
      setFailure(failureIn(error));
      if (isConflict(error)) await refresh();
    });
    setRunning(null);
  };

  const refresh = () => Promise.all([refetchProfile(), refetchSubscription()]);

  const cancel = async () => {
    const { cancelAtDate } = await request('cancelPlan');
    await refresh();
    setCancelled(true);
    const description = cancelWords.doneText(formatDate(cancelAtDate));
    showToast({ type: 'success', title: cancelWords.done, description });
  };

  const resume = async () => {
    await request('resumePlan');
    await refresh();
    setCancelled(false);
    showToast({ type: 'success', title: cancelWords.kept, description: cancelWords.keptText });
  };

  /** The second half of a double click must not undo the first. */
  const once = (change: PlanChange, work: () => Promise<void>) => (event: MouseEvent) => {
    if (running === null && event.detail < 2) void run(change, work);
  };

  return {
    hasCancelled,
    running,
    failure: useUnlessExpired(failure),
    cancel: once('cancelPlan', cancel),
    resume: once('resumePlan', resume),
  };
}

const isConflict = (error: unknown) => error instanceof ApiError && error.code === 'conflict';

/** Null if a toast has said it. */
function failureIn(error: unknown): Refused | null {
  const failure = failureOf(error);
  if (failure && isConflict(error)) return { text: cancelWords.nothing, until: null };
  if (failure && error instanceof ApiError && error.isOutage && error.code !== 'network')
    return { text: cancelWords.noAnswer, until: null };
  return failure;
}

type Reason = keyof typeof cancelReasonWords.reasons;

const reasons = Object.entries(cancelReasonWords.reasons) as [Reason, string][];

/** A click on a reason is the whole reply. */
function CancelReason() {
  const [given, setGiven] = useState<Reason | null>(null);
  const give = async (reason: Reason) => {
    if (given !== null) return;
    setGiven(reason);
    // The question stays after a failure.
    await call('giveCancelReason', { reason }).catch(() => setGiven(null));
  };
  if (given !== null)
    return <output className={css({ color: 'muted' })}>{cancelReasonWords.thanks}</output>;
  return (
    <fieldset className={css({ display: 'grid', gap: '3' })}>
      <legend className={css({ fontWeight: 'semibold', marginBottom: '1' })}>
        {cancelReasonWords.question}
      </legend>
      <p className={css({ textStyle: 'small', color: 'muted' })}>{cancelReasonWords.optional}</p>
      <div className={css({ display: 'flex', flexWrap: 'wrap', gap: '2' })}>
        {reasons.map(([reason, text]) => (
          <button
            key={reason}
            type="button"
            className={button({ look: 'soft' })}
            onClick={() => void give(reason)}
          >
            {text}
          </button>
        ))}
      </div>
    </fieldset>
  );
}
