import { profilePath } from '../../data/early-start.ts';
import { accountSummary } from '../../rules/account-view.ts';
import { readUser } from '../../rules/user-profile.ts';
import { painted, shellRoot, parsed, startApp } from './start-shell.ts';

/** Fills the served shell about a second before the app (1.6 Mbit/s, a quarter of the processor) replaces it. */
async function fillAccount(): Promise<void> {
  const response = await globalThis.earlyStart?.responses[profilePath];
  if (typeof response === 'string' || !response?.ok) return;
  const { profile } = await response.clone().json();
  const user = readUser(Object(profile));
  await parsed();
  if (user.status === 'pending') return;
  const { texts, tone } = accountSummary(user);
  for (const [slot, text] of Object.entries(texts)) fillSlot(slot, text);
  shellRoot()?.querySelector('[data-tone]')?.setAttribute('data-tone', tone);
  await painted();
}

/** Replaces a bar by a text, whose height may differ in a box that keeps its own. */
function fillSlot(slot: string, text: string): void {
  const bar = shellRoot()?.querySelector(`[data-slot=${slot}]`);
  const filled = bar?.cloneNode();
  if (!bar || !filled) return;
  filled.textContent = text;
  bar.replaceWith(filled);
}

void startApp(fillAccount());
