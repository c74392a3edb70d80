import { css } from '#styled/css';
import { spinner } from '#styled/recipes';

/** A spinner with its text, which screen readers announce once. */
export function Spinner({ label }: { label: string }) {
  return (
    <output className={css({ display: 'grid', justifyItems: 'center', gap: '4', color: 'muted' })}>
      <span className={spinner()} aria-hidden="true" />
      <span>{label}</span>
    </output>
  );
}
