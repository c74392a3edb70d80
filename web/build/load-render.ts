import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export type Rendered = { routeId: string; markup: string };
export type Render = (path: string) => Promise<Rendered>;

/** Loads the server build of `render.tsx`. */
export async function loadRender(directory: string): Promise<Render> {
  const { render } = await import(pathToFileURL(join(directory, 'render.js')).href);
  return render;
}
