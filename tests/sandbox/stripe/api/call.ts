import type { World } from '../types/world.ts';

/** One request with decoded and validated parameters. */
export type Call<Params = object> = { params: Params; ids: Record<string, string> };
export type Handler = (world: World, call: Call<never>) => unknown;

/** The id in the address. */
export function idOf(call: Call): string {
  return call.ids['id'] ?? '';
}

/** Runs changes in one transaction at the time of a customer ('' for everybody's), then sends their events. */
export type Atomically = <T>(customer: string, work: () => T) => T;

export type ApiResponse = { status: number; body: unknown };
