import { html } from 'hono/html';
import { type Html, layout, problem } from './layout.ts';
import type { Portal } from './read-portal.ts';
import { cardSection, invoiceSection, noPlan, planSection } from './portal-sections.ts';
import type { PortalSession } from '../types/portal-sessions.ts';
import type { World } from '../types/world.ts';

const notices = {
  switched: 'Your plan has changed.',
  scheduled: 'Your plan will change at the end of this period.',
  canceled: 'Your subscription will end. You can change your mind until then.',
  kept: 'Your subscription goes on.',
  released: 'The scheduled change is canceled. Your plan stays as it is.',
  card: 'Your payment method is updated.',
};
export type Notice = keyof typeof notices | undefined;

/** The portal's page: the plan and its actions, the card, the invoices. */
export function portalPage(
  world: World,
  portal: Portal,
  { notice, problem: message }: { notice?: Notice; problem?: string },
): Html {
  const words = notice && notices[notice];
  const content = html`<div class="stack">
      <h1>Your subscription</h1>
      ${problem(message)} ${words ? html`<p class="notice good" role="status">${words}</p>` : ''}
    </div>
    <div class="columns">
      <div class="rows">${sectionsOf(portal)}</div>
      <div class="rows">
        ${invoiceSection(portal)}
        <form method="post" action="/portal/${portal.session.id}/return">
          <button>Return to ${world.settings.businessName}</button>
        </form>
      </div>
    </div>`;
  return layout(world, 'Billing', content);
}

/** The section of the session's flow comes first. */
function sectionsOf(portal: Portal): (Html | string)[] {
  const plan = portal.subscription ? planSection(portal) : noPlan;
  const card = portal.features.payment_method_update.enabled ? cardSection(portal) : '';
  return portal.session.flow?.type === 'payment_method_update' ? [card, plan] : [plan, card];
}

/** The confirmation page of a flow whose `after_completion` requests one. */
export function confirmationPage(world: World, { id }: PortalSession, message: string | null): Html {
  const content = html`<section class="card stack">
    <h1>Done</h1>
    <p>${message ?? 'Your changes are saved.'}</p>
    <form method="post" action="/portal/${id}/return">
      <button class="primary">Return to ${world.settings.businessName}</button>
    </form>
  </section>`;
  return layout(world, 'Done', content);
}
