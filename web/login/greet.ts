import type { Destination } from '../departures.ts';
import { notify } from '../notices.ts';
import { afterLogin } from '../rules/after-login.ts';
import { loginWords } from '../words/login.ts';

/** Tells what is to be told after logging in, and answers where to go. */
export function greet(status: string, plan?: string): Destination {
  const { to, notice } = afterLogin(status, plan);
  if (notice === 'success') notify({ type: 'success', title: loginWords.success });
  if (notice === 'issue')
    notify({ type: 'error', title: loginWords.issueTitle, description: loginWords.issue(status) });
  return to;
}
