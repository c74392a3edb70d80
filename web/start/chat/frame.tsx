import { Outlet, rootRouteId, type RegisteredRouter } from '@tanstack/react-router';
import { consentVersion } from '#contract/chat-limits';
import type { ShownChat } from '../protocol.ts';

const at = '2025-01-01T00:00:00.000Z';

/** A conversation that `fill-chat.tsx` replaces by the user's. */
const sample: ShownChat = {
  token: '',
  openedAt: Date.parse(at),
  page: {
    success: true,
    revision: 0,
    messages: [{ id: '', seq: 1, author: 'user', text: '', at, state: 'delivered' }],
    hasMore: true,
    typingUntil: null,
    consent: { version: consentVersion, at },
  },
};

/** Renders the main part of the chat around a sample. */
export function renderFrame(
  router: RegisteredRouter,
  render: (router: RegisteredRouter) => string,
): string {
  const root = router.routesById[rootRouteId];
  const { component: layout } = root.options;
  if (!layout) throw new Error('The site has no layout');

  globalThis.earlyStart = { responses: {}, shownChat: sample };
  root.update({ component: Outlet });
  const markup = render(router);
  root.update({ component: layout });
  globalThis.earlyStart = undefined;
  return markup;
}
