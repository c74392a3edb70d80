import {
  firstStep,
  readLockout,
  readStep,
  type LockoutState,
  type SignInStep,
} from '../rules/sign-in-steps.ts';
import { steadyNow } from '../rules/steady-clock.ts';
import { keptInTab } from './kept-in-tab.ts';

/** What a tab keeps of a sign-in, through reloads and changes of language, until it succeeds. */
export const keptSignIn = {
  step: (): SignInStep => readStep(keptInTab.read('signInStep', null)) ?? firstStep,
  keepStep: (step: SignInStep) => keptInTab.keep('signInStep', null, step),
  lockout: (): LockoutState => readLockout(keptInTab.read('signInLockout', null), steadyNow()),
  keepLockout: (state: LockoutState) => keptInTab.keep('signInLockout', null, state),
  remove(): void {
    keptInTab.remove('signInStep', null);
    keptInTab.remove('signInLockout', null);
  },
};
