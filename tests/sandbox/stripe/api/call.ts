import type { World } from '../world.ts';

/** One request, its parameters decoded and known to be allowed. */
export type Call<Params = object> = { params: Params; ids: Record<string, string> };
export type Handler = (world: World, call: Call<never>) => unknown;

/** The id in the address. */
export function idOf(call: Call): string {
  return call.ids['id'] ?? '';
}
