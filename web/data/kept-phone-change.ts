import { readPhoneChange, type PhoneChange } from '../rules/sign-in-steps.ts';
import { serverClock } from './clock.ts';
import { keptInTab } from './kept-in-tab.ts';
import { session } from './session.ts';

const token = () => session.get().token;

/** A change of number that waits for its code. */
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
