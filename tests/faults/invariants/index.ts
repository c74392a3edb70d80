import {
  attackersSeeNoErrors,
  nobodyIsLockedOut,
  othersStayFast,
  codesWorkOnce,
  nobodyIsStuck,
  noUnexpectedErrors,
} from './sign-ins.ts';
import { chatStreamsAgree, messagesReachedBot, pagesAreWhole, textIsNowhere } from './conversations.ts';
import { deletedAccountsAreGone } from './deletions.ts';
import type { Invariant } from './accounts.ts';
import { botReceivedChanges, everyEventArrived } from './outbox.ts';
import { streamsAgree, postsCountOnce, totalsAgree } from './usage.ts';
import { checkoutsHold, plansAgree } from './subscriptions.ts';

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
