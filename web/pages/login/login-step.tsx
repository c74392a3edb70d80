import { type ReactNode, useEffect, useRef } from 'react';
import { css } from '#styled/css';
import { showToast } from '../../data/toasts.ts';
import { type AfterLogin, type LoginWishes, afterLogin } from '../../rules/destinations.ts';
import { loginWords } from '#words/login';

type Props = { title: string; children?: ReactNode; id?: string; focus?: boolean };

/** So that screen readers announce the step. */
export function StepTitle({ title, children, id, focus = true }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (focus) heading.current?.focus();
  }, [focus]);
  return (
    <header className={css({ display: 'grid', gap: '3' })}>
      <h1
        ref={heading}
        id={id}
        tabIndex={-1}
        className={css({ textStyle: 'heading' })}
      >
        {title}
      </h1>
      {children && <p className={css({ color: 'muted' })}>{children}</p>}
    </header>
  );
}

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
