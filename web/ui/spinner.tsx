import { css } from '#styled/css';
import { spinner } from '#styled/recipes';

export function Spinner({ label }: { label: string }) {
  return (
    <output className={css({ display: 'grid', justifyItems: 'center', gap: '4', color: 'muted' })}>
      <span className={spinner()} aria-hidden="true" />
      <span>{label}</span>
    </output>
  );
}

export function PageSpinner({ label }: { label: string }) {
  return (
    <div
      className={css({
        flex: '1',
        display: 'grid',
        placeItems: 'center',
        minHeight: '[60dvh]',
        padding: '8',
      })}
    >
      <Spinner label={label} />
    </div>
  );
}
