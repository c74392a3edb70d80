import { type Ref, useEffect, useRef, useState } from 'react';
import { codeError, shownCode } from '../../rules/sign-in-rules.ts';
import type { RefusalText } from '../../ui/refusal.tsx';
import { TextField } from '../../ui/form-fields.tsx';
import { loginWords } from '#words/login';

type CodeFieldProps = {
  ref: Ref<HTMLInputElement>;
  code: string;
  setCode: (code: string) => void;
  isLocked: boolean;
  isOver: boolean;
};

export function CodeField({ ref, code, setCode, isLocked, isOver }: CodeFieldProps) {
  const [wasLeft, setWasLeft] = useState(false);
  const change = (typed: string) => {
    setCode(shownCode(typed));
    setWasLeft(false);
  };
  return (
    <TextField
      ref={ref}
      look="code"
      name="otp"
      type="text"
      inputMode="numeric"
      autoComplete="one-time-code"
      label={loginWords.code}
      hint={isOver ? undefined : loginWords.codeHint}
      value={code}
      error={codeError(code, wasLeft)}
      disabled={isLocked}
      onBlur={() => setWasLeft(true)}
      onChange={({ target }) => change(target.value)}
    />
  );
}

/** A refused code is selected, so that the next one takes its place. */
export function useCodeFocus(failure: RefusalText | undefined, isFree: boolean) {
  const input = useRef<HTMLInputElement>(null);
  // The form's name is announced with its field.
  useEffect(() => input.current?.focus(), []);
  useEffect(() => {
    if (failure && isFree) input.current?.select();
  }, [failure, isFree]);
  return input;
}
