import { readPhoneChange, type PhoneChange } from '../rules/sign-in-steps.ts';
import { serverClock } from './clock.ts';
import { tabKeys } from './session.ts';
import { keepInTab, readFromTab, tabStorage } from './store.ts';

/** A change of number that waits for its code. It ends with the session. */
export const keptPhoneChange = {
  read: (): PhoneChange | null =>
    readPhoneChange(readFromTab(tabKeys.phoneChange), serverClock.now()),
  keep(phone: string, challenge: string): PhoneChange {
    const change = { phone, challenge, at: serverClock.now() };
    keepInTab(tabKeys.phoneChange, change);
    return change;
  },
  remove: () => tabStorage.remove(tabKeys.phoneChange),
};
