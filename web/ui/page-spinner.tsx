import { css } from '#styled/css';
import { Spinner } from './spinner.tsx';

/** A page that is not there yet. */
export function PageSpinner({ label }: { label: string }) {
  return (
    <div className={css({ flex: '1', display: 'grid', placeItems: 'center', minHeight: '[60dvh]', padding: '8' })}>
      <Spinner label={label} />
    </div>
  );
}
