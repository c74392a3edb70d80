import { notify } from '../../data/notices.ts';
import { type Destination, afterLogin } from '../../rules/after-login.ts';
import { loginWords } from '../../words/login.ts';

/** Shows the notice that follows a sign-in. Returns the page that follows it. */
export function finishSignIn(status: string, plan?: string): Destination {
  const { to, notice } = afterLogin(status, plan);
  if (notice === 'success') notify({ type: 'success', title: loginWords.success });
  if (notice === 'issue')
    notify({ type: 'error', title: loginWords.issueTitle, description: loginWords.issue(status) });
  return to;
}
