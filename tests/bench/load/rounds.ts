/** Runs the lanes in turn, round after round, each round in the other order; answers what each round gave. */
export async function inRounds<Lane extends string, Lap>(
  rounds: number,
  lanes: Record<Lane, () => Promise<Lap>>,
): Promise<Record<Lane, Lap[]>> {
  const names = Object.keys(lanes) as Lane[];
  const laps = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Lane, Lap[]>;
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? names : names.toReversed();
    for (const name of order) laps[name].push(await lanes[name]());
  }
  return laps;
}
