import { Field } from '@ark-ui/react/field';
import type { ComponentProps } from 'react';
import { field } from '#styled/recipes';
import { css } from '#styled/css';
import { layoutWords } from '#words/layout';

type TextFieldProps = ComponentProps<'input'> & {
  label: string;
  hint?: string | undefined;
  error?: string | undefined;
  look?: 'plain' | 'code';
};

/** Hint and error are announced. */
export function TextField({
  label,
  hint,
  error,
  look = 'plain',
  id,
  disabled,
  required,
  ...input
}: TextFieldProps) {
  const styles = look === 'code' ? field({ look: 'code' }) : field();
  return (
    <Field.Root
      {...(id && { id })}
      className={styles.root}
      invalid={Boolean(error)}
      disabled={disabled ?? false}
      required={required ?? false}
    >
      <Field.Label className={styles.label}>{label}</Field.Label>
      <Field.Input
        className={styles.input}
        dir="auto"
        {...input}
      />
      {hint && <Field.HelperText className={styles.hint}>{hint}</Field.HelperText>}
      <Field.ErrorText className={styles.error}>{error}</Field.ErrorText>
    </Field.Root>
  );
}

type TextareaFieldProps = ComponentProps<'textarea'> & {
  label: string;
  error?: string | undefined;
};

/** Its error is announced. */
export function TextareaField({ label, error, required, ...textarea }: TextareaFieldProps) {
  const styles = field();
  return (
    <Field.Root
      className={styles.root}
      invalid={Boolean(error)}
      required={required ?? false}
    >
      <Field.Label className={styles.label}>{label}</Field.Label>
      <Field.Textarea
        className={styles.textarea}
        dir="auto"
        {...textarea}
      />
      <Field.ErrorText className={styles.error}>{error}</Field.ErrorText>
    </Field.Root>
  );
}

export function NeedsScript() {
  return (
    <noscript>
      <p
        className={css({
          padding: '4',
          borderRadius: 'md',
          backgroundColor: 'warmSoft',
          color: 'onWarmSoft',
        })}
      >
        {layoutWords.needsScript}
      </p>
    </noscript>
  );
}
