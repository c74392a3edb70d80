import { readContactState, type ContactState } from '../../data/sign-in.ts';
import { usePolling } from './use-polling.ts';

const pauseMs = 3000;
/** Somebody may be away after two minutes. */
const patientAfterMs = 120_000;
const longPauseMs = 10_000;

type ShownLink = { phone: string; linkCode: string | undefined };

/** `hasLeft`: it is not shown any more. */
export function useLinkState(
  { phone, linkCode }: ShownLink,
  proceed: (state: ContactState, hasLeft: () => boolean) => Promise<void> | void,
): void {
  usePolling({
    subject: linkCode ? `${phone} ${linkCode}` : null,
    pauseAfter: (elapsed) => (elapsed < patientAfterMs ? pauseMs : longPauseMs),
    poll: async (hasLeft) => {
      const state = await readContactState(phone, linkCode!);
      if (!hasLeft()) await proceed(state, hasLeft);
    },
  });
}
