import type { World } from '../world.ts';

/** An invariant, the number of checked cases, and its violations. */
export type Finding = { what: string; checked: number; broken: string[] };

export type Invariant = (world: World) => Promise<Finding>;

/** Checks every case, a few concurrently; `violationOf` returns the violation of a case, or null. */
export async function checkCases<Case>(
  what: string,
  cases: Iterable<Case>,
  violationOf: (each: Case) => Promise<string | null> | string | null,
): Promise<Finding> {
  const finding: Finding = { what, checked: 0, broken: [] };
  const queue = [...cases];
  const work = async () => {
    for (let each = queue.pop(); each !== undefined; each = queue.pop()) {
      finding.checked += 1;
      const wrong = await violationOf(each);
      if (wrong !== null) finding.broken.push(wrong);
    }
  };
  await Promise.all(Array.from({ length: 6 }, work));
  return finding;
}
