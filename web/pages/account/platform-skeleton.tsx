import { css } from '#styled/css';
import { skeleton } from '#styled/recipes';

/** As tall as the two choices that it stands for. */
export function PlatformSkeleton() {
  return (
    <div className={css({ display: 'grid', gap: '3' })} aria-hidden="true">
      {[1, 2].map((row) => (
        <span key={row} className={`${skeleton()} ${css({ height: '[3.625rem]', borderRadius: 'md' })}`} />
      ))}
    </div>
  );
}
