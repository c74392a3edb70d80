import {
  firstStep,
  readLockout,
  readStep,
  type LockoutState,
  type SignInStep,
} from '../rules/sign-in-steps.ts';
import { steadyNow } from '../rules/steady-clock.ts';
import { keepInTab, readFromTab, tabStorage } from './store.ts';

const stepKey = 'signInStep';
const lockoutKey = 'signInLockout';

/** What a tab keeps of a sign-in, through reloads and changes of language, until it succeeds. */
export const keptSignIn = {
  step: (): SignInStep => readStep(readFromTab(stepKey)) ?? firstStep,
  keepStep: (step: SignInStep) => keepInTab(stepKey, step),
  lockout: (): LockoutState => readLockout(readFromTab(lockoutKey), steadyNow()),
  keepLockout: (state: LockoutState) => keepInTab(lockoutKey, state),
  remove(): void {
    tabStorage.remove(stepKey);
    tabStorage.remove(lockoutKey);
  },
};
