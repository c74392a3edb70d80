import {
  firstStep,
  readLockout,
  readPhoneChange,
  readStep,
  type LockoutState,
  type PhoneChange,
  type SignInStep,
} from '../rules/sign-in-steps.ts';
import { serverClock, steadyNow } from './clock.ts';
import { keptInTab } from './kept-in-tab.ts';
import { session } from './session.ts';

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

const token = () => session.get().token;

export const keptPhoneChange = {
  read: (): PhoneChange | null =>
    readPhoneChange(keptInTab.read('phoneChange', token()), serverClock.now()),
  keep(phone: string, challenge: string): PhoneChange {
    const change = { phone, challenge, at: serverClock.now() };
    keptInTab.keep('phoneChange', token(), change);
    return change;
  },
  remove: () => keptInTab.remove('phoneChange', token()),
};
