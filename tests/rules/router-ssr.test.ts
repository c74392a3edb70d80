import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { describe, expect, it } from 'vitest';

// `web/app/mount.tsx` sets the undocumented property `router.ssr` before it hydrates prerendered markup, which was
// rendered without a Suspense boundary. These tests fail when an update of TanStack Router gives it another meaning.
const suspenseBoundary = '<!--$-->';

/** The markup that a router in the browser renders for a page with one heading. */
async function markup(ssr: { manifest: undefined } | undefined): Promise<string> {
  const router = createRouter({
    routeTree: createRootRoute({ component: () => createElement('h1', null, 'Heading') }),
    history: createMemoryHistory(),
    isServer: false,
    origin: 'https://solace.example',
  });
  if (ssr) router.ssr = ssr;
  await router.load();
  return renderToString(createElement(RouterProvider<typeof router>, { router }));
}

describe('router.ssr', () => {
  it('removes the Suspense boundary around the page', async () => {
    expect(await markup({ manifest: undefined })).toBe('<h1>Heading</h1>');
  });

  it('leaves the Suspense boundary in place where it is not set', async () => {
    expect(await markup(undefined)).toContain(suspenseBoundary);
  });
});
