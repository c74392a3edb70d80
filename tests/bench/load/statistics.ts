/** The value below which this share (0 to 1) of the values lies. */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
}

export const median = (values: number[]): number => quantile(values, 0.5);

export type Ratio = {
  ratio: number;
  /** The quartiles of the rounds' own ratios. */
  spread: [number, number];
};

/** How two lanes that ran in the same rounds compare: the ratio of one value over all rounds, and its spread. */
export function compare(ours: number[][], theirs: number[][], value: (lap: number[]) => number = median): Ratio {
  const each = ours.map((lap, round) => value(lap) / value(theirs[round]!));
  return { ratio: value(ours.flat()) / value(theirs.flat()), spread: [quantile(each, 0.25), quantile(each, 0.75)] };
}
