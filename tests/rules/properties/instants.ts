import * as fc from 'fast-check';

/** Unix ms from 2001 to 2100. */
export const instant = fc.integer({ min: 978_307_200_000, max: 4_102_444_800_000 });

/** Unix ms near a boundary of `unit`, where rules break. */
export function nearMultiple(base: number, unit: number) {
  return fc
    .tuple(fc.integer({ min: -60, max: 520 }), fc.constantFrom(-1, 0, 1, Math.floor(unit / 2)))
    .map(([times, off]) => base + times * unit + off);
}
