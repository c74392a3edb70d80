import type { World } from '../types/world.ts';

/** One request, its parameters decoded and known to be allowed. */
export type Call<Params = object> = { params: Params; ids: Record<string, string> };
export type Handler = (world: World, call: Call<never>) => unknown;

/** The id in the address. */
export function idOf(call: Call): string {
  return call.ids['id'] ?? '';
}

/** Runs changes all together or not at all, then sends their events. */
export type Atomically = <T>(work: () => T) => T;

export type Answer = { status: number; body: unknown };
