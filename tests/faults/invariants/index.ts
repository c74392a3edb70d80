import { leaversAreGone } from './departures.ts';
import type { Invariant } from './finding.ts';
import { botKnowsAll, everyEventArrived } from './outbox.ts';
import { codesWorkOnce, nobodyIsStuck, nothingSurprised } from './sign-ins.ts';
import { streamsAgree } from './streams.ts';
import { checkoutsHold, plansAgree } from './subscriptions.ts';
import { postsCountOnce, totalsAgree } from './usage.ts';

/** All that must hold when the services have been mended and everything has come to rest. */
export const invariants: Invariant[] = [
  postsCountOnce,
  totalsAgree,
  streamsAgree,
  plansAgree,
  checkoutsHold,
  everyEventArrived,
  botKnowsAll,
  codesWorkOnce,
  leaversAreGone,
  nobodyIsStuck,
  nothingSurprised,
];
