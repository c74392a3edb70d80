import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { Output } from '#contract/endpoints';
import { css } from '#styled/css';
import { badge, button } from '#styled/recipes';
import { request } from '../../data/api-client.ts';
import { signOutEverywhere } from '../../data/sign-out.ts';
import { showToast } from '../../data/toasts.ts';
import { useSession } from '../../data/session.ts';
import { useAction } from '../../data/use-action.ts';
import { formatMoment } from '../../rules/formats.ts';
import { Alert } from '../../ui/alert.tsx';
import { Spinner } from '../../ui/spinner.tsx';
import { accountWords, privacyWords } from '#words/account';

type ListedSession = Output<'getSessions'>['sessions'][number];

export default function SessionList({ isDisabled }: { isDisabled: boolean }) {
  const token = useSession((session) => session.token);
  const queryKey = ['sessions', token];
  const { data, isPending } = useQuery({
    queryKey,
    queryFn: () => request('getSessions'),
    gcTime: 0,
  });
  const client = useQueryClient();
  const [isBusy, run] = useAction();

  const end = async (id: string) => {
    await request('endSession', { id });
    showToast({ type: 'success', title: privacyWords.ended });
    await client.invalidateQueries({ queryKey });
  };

  if (isPending) return <Spinner label={privacyWords.sessionsLoading} />;
  if (!data?.success) return <Alert look="warm">{privacyWords.sessionsFailed}</Alert>;
  return (
    <>
      <ul
        className={list}
        aria-label={privacyWords.sessions}
      >
        {data.sessions.map((session) => (
          <SessionRow
            key={session.id}
            session={session}
            isDisabled={isBusy || isDisabled}
            end={() => run(() => end(session.id), failed(privacyWords.endFailed))}
          />
        ))}
      </ul>
      <button
        type="button"
        className={button({ look: 'dangerSoft', wide: true })}
        disabled={isBusy || isDisabled}
        onClick={() => run(signOutEverywhere, failed(privacyWords.everywhereFailed))}
      >
        {privacyWords.everywhere}
      </button>
    </>
  );
}

const failed = (fallback: string) => ({ title: accountWords.error, fallback });

type RowProps = { session: ListedSession; isDisabled: boolean; end: () => void };

function SessionRow({ session, isDisabled, end }: RowProps) {
  return (
    <li className={row}>
      <SessionFacts session={session} />
      {!session.current && (
        <button
          type="button"
          className={button({ look: 'soft' })}
          aria-label={nameOf(privacyWords.end, session)}
          disabled={isDisabled}
          onClick={end}
        >
          {privacyWords.end}
        </button>
      )}
    </li>
  );
}

function SessionFacts({ session }: { session: ListedSession }) {
  const { createdAt, lastSeenAt, current, device } = session;
  return (
    <div
      className={css({
        display: 'grid',
        gap: '1',
        marginInlineEnd: 'auto',
      })}
    >
      {current ? (
        <span className={badge()}>{privacyWords.current}</span>
      ) : (
        <span>{privacyWords.other}</span>
      )}
      {device && <span>{deviceText(device)}</span>}
      <span className={css({ color: 'muted' })}>
        {privacyWords.signedIn(formatMoment(createdAt))}
      </span>
      <span className={css({ color: 'muted' })}>
        {privacyWords.lastSeen(formatMoment(lastSeenAt))}
      </span>
    </div>
  );
}

/** The API's names are English, such as "Safari on iPhone". */
function deviceText(device: string): string {
  const [browser = '', system] = device.split(' on ');
  return system === undefined ? browser : privacyWords.deviceOn({ browser, system });
}

/** Returns the accessible name of a button, since all buttons have the same text. */
function nameOf(action: string, { device, createdAt }: ListedSession): string {
  const signedIn = formatMoment(createdAt);
  if (!device) return `${action}: ${signedIn}`;
  return `${action}: ${deviceText(device)}, ${signedIn}`;
}

const list = css({ display: 'grid', gap: '3', textStyle: 'small' });
const row = css({
  display: 'flex',
  flexWrap: 'wrap',
  alignItems: 'center',
  gap: '3',
  paddingBlock: '3',
  borderTopWidth: 'thin',
  borderColor: 'line',
});
