import { useEffect, useSyncExternalStore } from 'react';
import type { NumberingPlans } from '#contract/pasted';
import { formatPhone } from '../rules/phone-text.ts';
import { createStore } from './store.ts';

const store = createStore<{ plans?: NumberingPlans }>({});

/** Returns the plans once they are loaded. Before, the server reads numbers by the same ones. */
export const loadedNumberingPlans = () => store.get().plans;

/** Loads 30 KiB that no page needs first. After a failure the next caller tries again. */
export async function loadNumberingPlans(): Promise<void> {
  if (loadedNumberingPlans()) return;
  try {
    const { phonePlans } = await import('./phone-library.ts');
    store.set({ plans: phonePlans });
  } catch {
    // Without the plans numbers are shown without groups.
  }
}

/** Returns a number in groups. The account's header does not use it, since it has a form of its own. */
export function usePhoneText(phone: string | null | undefined): string {
  const plans = useSyncExternalStore(store.subscribe, loadedNumberingPlans, () => undefined);
  const needsPlans = Boolean(phone) && !phone?.startsWith('+1');
  useEffect(() => {
    if (needsPlans) void loadNumberingPlans();
  }, [needsPlans]);
  if (!phone || !needsPlans) return formatPhone(phone);
  return plans?.grouped(phone) ?? phone;
}
