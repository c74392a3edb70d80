import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export type Rendered = { page: string; markup: string };
export type Render = (path: string) => Promise<Rendered>;

/** The rendering that a build for the server has left in a directory. */
export async function loadRender(directory: string): Promise<Render> {
  const { render } = await import(pathToFileURL(join(directory, 'render.js')).href);
  return render;
}
