import { Field } from '@ark-ui/react/field';
import type { ComponentProps } from 'react';
import { field } from '#styled/recipes';

type Props = ComponentProps<'input'> & {
  label: string;
  hint?: string;
  error?: string | undefined;
  look?: 'plain' | 'code';
};

/** A labelled input; screen readers announce its hint and error. */
export function TextField({ label, hint, error, look = 'plain', id, disabled, required, ...input }: Props) {
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
      <Field.Input className={styles.input} {...input} />
      {hint && <Field.HelperText className={styles.hint}>{hint}</Field.HelperText>}
      <Field.ErrorText className={styles.error}>{error}</Field.ErrorText>
    </Field.Root>
  );
}
