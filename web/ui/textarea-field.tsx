import { Field } from '@ark-ui/react/field';
import type { ComponentProps } from 'react';
import { field } from '#styled/recipes';

type Props = ComponentProps<'textarea'> & { label: string; error?: string | undefined };

/** A labelled field for several lines; screen readers announce its error. */
export function TextareaField({ label, error, required, ...textarea }: Props) {
  const styles = field();
  return (
    <Field.Root className={styles.root} invalid={Boolean(error)} required={required ?? false}>
      <Field.Label className={styles.label}>{label}</Field.Label>
      <Field.Textarea className={styles.textarea} {...textarea} />
      <Field.ErrorText className={styles.error}>{error}</Field.ErrorText>
    </Field.Root>
  );
}
