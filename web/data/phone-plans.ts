import { useEffect, useSyncExternalStore } from 'react';
import type { NumberingPlans } from '#contract/pasted';
import { formatPhone } from '../rules/phone-text.ts';
import { createStore } from './store.ts';

const loaded = createStore<{ plans?: NumberingPlans }>({});

/** Until then the server reads numbers by the same plans. */
export const phonePlans = () => loaded.get().plans;

/** 30 KiB that no page needs first. The next caller tries again. */
export async function loadPhonePlans(): Promise<void> {
  if (phonePlans()) return;
  try {
    const { plans } = await import('./phone-library.ts');
    loaded.set({ plans });
  } catch {
    // Numbers are shown without groups.
  }
}

/** The account's header has a form of its own. */
export function usePhoneText(phone: string | null | undefined): string {
  const plans = useSyncExternalStore(loaded.subscribe, phonePlans, () => undefined);
  const needsPlans = Boolean(phone) && !phone?.startsWith('+1');
  useEffect(() => {
    if (needsPlans) void loadPhonePlans();
  }, [needsPlans]);
  if (!phone || !needsPlans) return formatPhone(phone);
  return plans?.grouped(phone) ?? phone;
}
