import { attackersSeeNoErrors, nobodyIsLockedOut, othersStayFast } from './attacks.ts';
import { chatStreamsAgree, messagesReachedBot, pagesAreWhole } from './conversations.ts';
import { deletedAccountsAreGone } from './deletions.ts';
import type { Invariant } from './finding.ts';
import { botReceivedChanges, everyEventArrived } from './outbox.ts';
import { codesWorkOnce, nobodyIsStuck, noUnexpectedErrors } from './sign-ins.ts';
import { textIsNowhere } from './stored-text.ts';
import { streamsAgree } from './streams.ts';
import { checkoutsHold, plansAgree } from './subscriptions.ts';
import { postsCountOnce, totalsAgree } from './usage.ts';

/** All invariants, for a settled system in which every service works. */
export const invariants: Invariant[] = [
  postsCountOnce,
  totalsAgree,
  streamsAgree,
  plansAgree,
  checkoutsHold,
  everyEventArrived,
  botReceivedChanges,
  messagesReachedBot,
  pagesAreWhole,
  chatStreamsAgree,
  textIsNowhere,
  attackersSeeNoErrors,
  codesWorkOnce,
  deletedAccountsAreGone,
  nobodyIsStuck,
  noUnexpectedErrors,
];

/** What only a quiet machine can measure. */
export const timed: Invariant[] = [nobodyIsLockedOut, othersStayFast];
