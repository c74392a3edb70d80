import { attach } from '../billing/attach-method.ts';
import { markSetUp } from '../billing/attempt-payment.ts';
import { newId } from '../ids.ts';
import type { Metadata } from '../types/metadata.ts';
import type { SetupIntent } from '../types/setup-intents.ts';
import type { World } from '../types/world.ts';

type NewSetupIntent = {
  customer: string | null;
  metadata?: Metadata;
  description?: string | null;
  paymentMethod?: string | null;
  subscription?: string;
};

const untouched = {
  allowed_payment_method_types: null,
  application: null,
  automatic_payment_methods: { allow_redirects: 'always', enabled: true },
  customer_account: null,
  excluded_payment_method_types: null,
  flow_directions: null,
  livemode: false,
  managed_payments: null,
  mandate: null,
  on_behalf_of: null,
  payment_method_configuration_details: null,
  payment_method_options: {
    card: { mandate_options: null, network: null, request_three_d_secure: 'automatic' },
  },
  payment_method_types: ['card'],
  single_use_mandate: null,
  // Recorded: Stripe returns this whatever the parameters say.
  usage: 'off_session',
};

export function newSetupIntent(world: World, fields: NewSetupIntent): SetupIntent {
  const id = newId('seti_1');
  return world.setupIntents.insert({
    ...untouched,
    client_secret: `${id}_secret_${newId('')}`,
    description: fields.description ?? null,
    id,
    object: 'setup_intent',
    cancellation_reason: null,
    created: world.now(),
    customer: fields.customer,
    last_setup_error: null,
    latest_attempt: null,
    metadata: fields.metadata ?? {},
    next_action: null,
    payment_method: fields.paymentMethod ?? null,
    status: fields.paymentMethod ? 'requires_confirmation' : 'requires_payment_method',
    _: { subscription: fields.subscription ?? null },
  });
}

/** Saves the card for the customer, so that it can be charged later without them. */
export function succeed(world: World, id: string, paymentMethod: string): SetupIntent {
  const { customer, _: internal } = world.setupIntents.get(id);
  if (customer) attach(world, paymentMethod, customer, 'payment_method');
  markSetUp(world, paymentMethod);
  const { subscription } = internal;
  if (subscription) world.subscriptions.change(subscription, (waiting) => void (waiting.pending_setup_intent = null));
  return world.setupIntents.change(
    id,
    (intent) => {
      Object.assign(intent, { status: 'succeeded', payment_method: paymentMethod, next_action: null });
      intent.latest_attempt = newId('setatt_1');
    },
    'setup_intent.succeeded',
  );
}
