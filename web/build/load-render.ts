import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ShownChat } from '../data/early-start.ts';

export type Rendered = { routeId: string; markup: string };
export type Render = (path: string, shownChat?: ShownChat) => Promise<Rendered>;

/** Loads the server build of `render.tsx`. */
export async function loadRender(directory: string): Promise<Render> {
  const { render } = await import(pathToFileURL(join(directory, 'render.js')).href);
  return render;
}
