import { profilePath } from '../../data/early-start.ts';
import { accountSummary } from '../../rules/account-summary.ts';
import { readUser } from '../../rules/read-user.ts';
import { painted } from './painted.ts';
import { shellRoot } from './shell-root.ts';
import { parsed, startApp } from './start-app.ts';

/**
 * Writes the profile into the served shell before the app starts: with 1.6 Mbit/s and a quarter of the processor the
 * first figures show about a second earlier. The app replaces the shell with the page.
 */
async function fillAccount(): Promise<void> {
  const response = await globalThis.earlyStart?.responses[profilePath];
  if (!response?.ok) return;
  const { profile } = await response.clone().json();
  const user = readUser(Object(profile));
  await parsed();
  if (user.status === 'pending') return;
  for (const [slot, text] of Object.entries(accountSummary(user))) {
    const element = shellRoot()?.querySelector(`[data-slot=${slot}]`);
    if (element) element.textContent = text;
  }
  await painted();
}

void startApp(fillAccount());
