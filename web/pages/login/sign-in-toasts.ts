import { showToast } from '../../data/toasts.ts';
import { type AfterSignIn, type SignInWishes, afterSignIn } from '../../rules/destinations.ts';
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
export function finishSignIn(
  status: string,
  wishes: SignInWishes = {},
): Omit<AfterSignIn, 'toast'> {
  const { toast, ...page } = afterSignIn(status, wishes);
  if (toast === 'success') showToast({ type: 'success', title: loginWords.success });
  if (toast === 'issue')
    showToast({
      type: 'error',
      title: loginWords.issueTitle,
      description: loginWords.issue(status),
    });
  return page;
}
