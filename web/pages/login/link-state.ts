import { readContactState, type ContactState } from '../../data/sign-in.ts';
import { useRepeatedQuestion } from './repeated-question.ts';

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
  useRepeatedQuestion({
    about: linkCode ? `${phone} ${linkCode}` : null,
    pauseAfter: (elapsed) => (elapsed < patientAfterMs ? pauseMs : longPauseMs),
    ask: async (hasLeft) => {
      const state = await readContactState(phone, linkCode!);
      if (!hasLeft()) await proceed(state, hasLeft);
    },
  });
}
