import { type Context, Hono } from 'hono';
import {
  cancelInPortal,
  cancelScheduledChange,
  keepSubscription,
  switchPlan,
  updateCard,
} from '../billing/portal-actions.ts';
import { actionRequired, refuseIncomplete } from '../billing/refuse-incomplete.ts';
import { StripeError } from '../errors.ts';
import { authenticationOf, authenticationPage, authenticationProblem } from './authentication.ts';
import { chosenCard } from './card-choice.ts';
import { confirmationPage, portalPage, type Notice } from './portal-page.ts';
import { readPortal } from './read-portal.ts';
import type { Atomically } from '../api/call.ts';
import type { PortalFlow, PortalSession } from '../types/portal-sessions.ts';
import type { World } from '../types/world.ts';

type Form = Record<string, unknown>;
/** Performs a button's action. Returns the notice to show, and the flows that it completes. */
type Action = (world: World, session: PortalSession, form: Form) => { notice: string; flow: PortalFlow['type'][] };

const updates = ['subscription_update', 'subscription_update_confirm'];

const actions: Record<string, Action> = {
  switch(world, session, form) {
    const configuration = world.portalConfigurations.get(session.configuration);
    const isAuthenticated = form['authentication'] === 'complete';
    const price = textOf(form, 'price');
    const when = switchPlan(world, subscriptionOf(world, session), price, configuration, { isAuthenticated });
    return { notice: when === 'now' ? 'switched' : 'scheduled', flow: updates };
  },
  cancel(world, session) {
    cancelInPortal(world, subscriptionOf(world, session), world.portalConfigurations.get(session.configuration));
    return { notice: 'canceled', flow: ['subscription_cancel'] };
  },
  keep(world, session) {
    keepSubscription(world, subscriptionOf(world, session));
    return { notice: 'kept', flow: [] };
  },
  release(world, session) {
    cancelScheduledChange(world, subscriptionOf(world, session));
    return { notice: 'released', flow: [] };
  },
  card(world, { customer }, form) {
    const card = chosenCard(form);
    if (authenticationOf(form, card) === 'missing') refuseIncomplete({ kind: 'action' });
    updateCard(world, customer, card);
    return { notice: 'card', flow: ['payment_method_update'] };
  },
};

/** The portal of one customer; each button is a form, so that it works without scripts. */
export function portalPages(world: World, atomically: Atomically): Hono {
  const app = new Hono();
  app.get('/portal/:id', (c) => {
    const session = world.portalSessions.get(c.req.param('id'));
    return c.html(portalPage(world, readPortal(world, session), { notice: c.req.query('notice') as Notice }));
  });
  // A reload after an error leads back to the portal.
  app.get('/portal/:id/:action', (c) => c.redirect(`/portal/${c.req.param('id')}`, 303));
  app.post('/portal/:id/return', (c) => {
    const session = world.portalSessions.get(c.req.param('id'));
    return c.redirect(session.return_url ?? world.settings.siteUrl, 303);
  });
  app.post('/portal/:id/:action', async (c) => {
    const session = world.portalSessions.get(c.req.param('id'));
    const action = actions[c.req.param('action')];
    if (!action) return c.notFound();
    const form = await c.req.parseBody();
    if (form['authentication'] === 'fail') {
      return c.html(portalPage(world, readPortal(world, session), { problem: authenticationProblem }), 402);
    }
    const outcome = run(session.customer, () => action(world, session, form));
    if (!(outcome instanceof StripeError)) return respond(c, world, session, outcome);
    if (outcome.details.code === actionRequired) {
      return c.html(authenticationPage(world, { action: c.req.path, fields: textsOf(form) }));
    }
    return c.html(portalPage(world, readPortal(world, session), { problem: outcome.message }), outcome.status as 402);
  });
  return app;

  function run<T>(customer: string, work: () => T): T | StripeError {
    try {
      return atomically(customer, work);
    } catch (error) {
      if (error instanceof StripeError) return error;
      throw error;
    }
  }
}

function respond(
  c: Context,
  world: World,
  session: PortalSession,
  { notice, flow: completed }: ReturnType<Action>,
): Response | Promise<Response> {
  const { flow, id } = session;
  if (!flow || !completed.includes(flow.type)) return c.redirect(`/portal/${id}?notice=${notice}`, 303);
  const { type, redirect, hosted_confirmation: confirmation } = flow.after_completion;
  if (type === 'redirect' && redirect) return c.redirect(redirect.return_url, 303);
  if (type === 'hosted_confirmation')
    return c.html(confirmationPage(world, session, confirmation?.custom_message ?? null));
  return c.redirect(`/portal/${id}?notice=${notice}`, 303);
}

function subscriptionOf(world: World, session: PortalSession): string {
  const { subscription } = readPortal(world, session);
  if (!subscription)
    throw new StripeError(404, { type: 'invalid_request_error', message: 'There is no subscription to change.' });
  return subscription.id;
}

function textOf(form: Form, name: string): string {
  const value = form[name];
  return typeof value === 'string' ? value : '';
}

/** The texts of a form, which are sent again after the authentication. */
function textsOf(form: Form): Record<string, string> {
  const entries = Object.entries(form).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []));
  return Object.fromEntries(entries) as Record<string, string>;
}
