import { html } from 'hono/html';
import type { World } from '../types/world.ts';

export type Html = ReturnType<typeof html>;

/** The layout of every hosted page. */
export function layout(world: World, title: string, content: Html): Html {
  const { businessName: name } = world.settings;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <meta name="referrer" content="no-referrer" />
        <title>${title} · ${name}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/stripe/pages.css" />
      </head>
      <body>
        <main>
          <header>
            <p class="merchant"><i aria-hidden="true">${name.slice(0, 1)}</i>${name}</p>
            <span class="badge">Test mode</span>
          </header>
          ${content}
        </main>
      </body>
    </html>`;
}

/** An error message, which screen readers announce at once. */
export function problem(message: string | undefined): Html | string {
  return message ? html`<p class="notice bad" role="alert">${message}</p>` : '';
}

/** A page of a closed session, with a link back. */
export function closedPage(
  world: World,
  { title, text, back }: { title: string; text: string; back: string | null },
): Html {
  const content = html`<section class="card stack">
    <h1>${title}</h1>
    <p class="soft">${text}</p>
    ${back ? html`<a class="button primary" href="${back}">Back</a>` : ''}
  </section>`;
  return layout(world, title, content);
}
