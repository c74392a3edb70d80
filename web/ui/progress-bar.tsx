import { Progress } from '@ark-ui/react/progress';
import { useId } from 'react';
import { progress } from '#styled/recipes';

type Props = { label: string; value: string; spoken: string; percent: number; isLoading?: boolean };

/** A bar with its label and value; the value changes silently, whoever shows it announces what matters. While it loads, its own shape is the skeleton. */
export function ProgressBar({ label, value, spoken, percent, isLoading = false }: Props) {
  const styles = progress();
  const labelId = useId();
  return (
    <Progress.Root className={styles.root} value={percent} data-loading={isLoading || undefined}>
      <span id={labelId} className={styles.label}>
        {label}
      </span>
      <span className={styles.value}>{value}</span>
      <Progress.Track className={styles.track} aria-labelledby={labelId} aria-label={undefined} aria-valuetext={spoken}>
        <Progress.Range className={styles.range} data-full={percent === 100 ? '' : undefined} />
      </Progress.Track>
    </Progress.Root>
  );
}
