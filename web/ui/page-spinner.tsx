import { css } from '#styled/css';
import { Spinner } from './spinner.tsx';

/** The placeholder of a page that is loading. */
export function PageSpinner({ label }: { label: string }) {
  return (
    <div className={css({ flex: '1', display: 'grid', placeItems: 'center', minHeight: '[60dvh]', padding: '8' })}>
      <Spinner label={label} />
    </div>
  );
}
