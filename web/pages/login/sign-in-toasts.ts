import { showToast } from '../../data/toasts.ts';
import { type AfterLogin, type LoginWishes, afterLogin } from '../../rules/destinations.ts';
import { loginWords } from '#words/login';

export const codeSentToast = 'code-sent';

export function showCodeSent(): void {
  showToast({
    id: codeSentToast,
    type: 'success',
    title: loginWords.codeSentTitle,
    description: loginWords.codeSent,
  });
}

/** Returns the page that follows. */
export function finishSignIn(status: string, wishes: LoginWishes = {}): Omit<AfterLogin, 'toast'> {
  const { toast, ...page } = afterLogin(status, wishes);
  if (toast === 'success') showToast({ type: 'success', title: loginWords.success });
  if (toast === 'issue')
    showToast({
      type: 'error',
      title: loginWords.issueTitle,
      description: loginWords.issue(status),
    });
  return page;
}
