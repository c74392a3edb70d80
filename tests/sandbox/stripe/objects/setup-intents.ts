import type { Stripe } from 'stripe';
import { type Call, idOf } from '../api/call.ts';
import { inRange, pageOf } from '../api/page.ts';
import { declined, invalid } from '../errors.ts';
import { newId } from '../ids.ts';
import type { World } from '../world.ts';
import { liveCustomer } from './customers.ts';
import { type Metadata, newMetadata } from './metadata.ts';
import { attach } from './payment-methods.ts';

export type SetupIntent = {
  id: string;
  object: 'setup_intent';
  client_secret: string;
  created: number;
  customer: string | null;
  description: string | null;
  metadata: Metadata;
  payment_method: string | null;
  status: 'requires_payment_method' | 'requires_confirmation' | 'succeeded' | 'canceled';
  cancellation_reason: string | null;
};
type NewSetupIntent = {
  customer: string | null;
  metadata?: Metadata;
  description?: string | null;
  paymentMethod?: string | null;
};

const untouched = {
  allowed_payment_method_types: ['card'],
  application: null,
  automatic_payment_methods: { allow_redirects: 'always', enabled: true },
  excluded_payment_method_types: null,
  flow_directions: null,
  last_setup_error: null,
  latest_attempt: null,
  livemode: false,
  mandate: null,
  next_action: null,
  on_behalf_of: null,
  payment_method_configuration_details: null,
  payment_method_options: {},
  payment_method_types: ['card'],
  single_use_mandate: null,
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
    metadata: fields.metadata ?? {},
    payment_method: fields.paymentMethod ?? null,
    status: fields.paymentMethod ? 'requires_confirmation' : 'requires_payment_method',
  });
}

/** Saves the card for the customer, so that it can be charged later without them. */
export function succeed(world: World, id: string, paymentMethod: string): SetupIntent {
  const { customer } = world.setupIntents.get(id);
  if (customer) attach(world, paymentMethod, customer);
  return world.setupIntents.change(
    id,
    (intent) => void Object.assign(intent, { status: 'succeeded', payment_method: paymentMethod }),
    'setup_intent.succeeded',
  );
}

export function createSetupIntent(world: World, { params }: Call<Stripe.SetupIntentCreateParams>): SetupIntent {
  if (params.customer) liveCustomer(world, params.customer, 'customer');
  const intent = newSetupIntent(world, {
    customer: params.customer ?? null,
    metadata: newMetadata(params.metadata),
    description: params.description ?? null,
    paymentMethod: params.payment_method ?? null,
  });
  return params.confirm ? confirm(world, intent.id, params.payment_method) : intent;
}

export function confirmSetupIntent(world: World, call: Call<Stripe.SetupIntentConfirmParams>): SetupIntent {
  return confirm(world, idOf(call), call.params.payment_method);
}

function confirm(world: World, id: string, given: string | undefined): SetupIntent {
  const intent = world.setupIntents.get(id);
  const method = given ?? intent.payment_method;
  if (intent.status === 'succeeded' || intent.status === 'canceled') {
    throw invalid(
      `You cannot confirm this SetupIntent because it has a status of ${intent.status}.`,
      undefined,
      'setup_intent_unexpected_state',
    );
  }
  if (!method)
    throw declined({ code: 'setup_intent_unexpected_state', message: 'Provide a payment method first.' }, false);
  return succeed(world, id, method);
}

export function cancelSetupIntent(world: World, call: Call<Stripe.SetupIntentCancelParams>): SetupIntent {
  const { id, status } = world.setupIntents.get(idOf(call));
  if (status === 'succeeded' || status === 'canceled') {
    throw invalid(
      `You cannot cancel this SetupIntent because it has a status of ${status}.`,
      undefined,
      'setup_intent_unexpected_state',
    );
  }
  return world.setupIntents.change(
    id,
    (intent) => {
      intent.status = 'canceled';
      intent.cancellation_reason = call.params.cancellation_reason ?? null;
    },
    'setup_intent.canceled',
  );
}

export function retrieveSetupIntent(world: World, call: Call): SetupIntent {
  return world.setupIntents.get(idOf(call));
}

export function listSetupIntents(world: World, { params }: Call<Stripe.SetupIntentListParams>) {
  const found = world.setupIntents
    .all()
    .filter((intent) => params.customer === undefined || intent.customer === params.customer)
    .filter((intent) => params.payment_method === undefined || intent.payment_method === params.payment_method)
    .filter((intent) => inRange(intent.created, params.created));
  return pageOf(found, params, '/v1/setup_intents');
}
