import type { World } from '../world.ts';

/** What must hold, how many cases were looked at, and where it does not. */
export type Finding = { what: string; checked: number; broken: string[] };

export type Invariant = (world: World) => Promise<Finding>;

/** Looks at every case, a few at once; a case answers what is wrong with it, or null. */
export async function examine<Case>(
  what: string,
  cases: Iterable<Case>,
  wrongWith: (each: Case) => Promise<string | null> | string | null,
): Promise<Finding> {
  const finding: Finding = { what, checked: 0, broken: [] };
  const queue = [...cases];
  const work = async () => {
    for (let each = queue.pop(); each !== undefined; each = queue.pop()) {
      finding.checked += 1;
      const wrong = await wrongWith(each);
      if (wrong !== null) finding.broken.push(wrong);
    }
  };
  await Promise.all(Array.from({ length: 6 }, work));
  return finding;
}
