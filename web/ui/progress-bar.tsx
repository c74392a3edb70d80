import { useId } from 'react';
import { progress } from '#styled/recipes';

type Props = { label: string; value: string; spoken: string; percent: number; isLoading?: boolean };

/**
 * A bar with its label and value. Its changes are not announced; the caller announces the relevant ones. While loading,
 * it is its own skeleton. Plain markup: Ark's Progress adds 6 KiB of scripts to a bar without interaction.
 */
export function ProgressBar({ label, value, spoken, percent, isLoading = false }: Props) {
  const styles = progress();
  const labelId = useId();
  return (
    <div className={styles.root} data-loading={isLoading || undefined}>
      <span id={labelId} className={styles.label}>
        {label}
      </span>
      <span className={styles.value}>{value}</span>
      <div
        // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- browsers draw <progress> differently
        role="progressbar"
        className={styles.track}
        aria-labelledby={labelId}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent}
        aria-valuetext={spoken}
      >
        <div className={styles.range} data-full={percent === 100 ? '' : undefined} style={{ width: `${percent}%` }} />
      </div>
    </div>
  );
}
