import { isEnded } from '../subscriptions/subscriptions.ts';
import { subscriptionOf } from '../invoices/lines.ts';
import type { Invoice, InvoicePayment, Price, StripeEvent, Subscription } from '../objects.ts';
import { pageOf, type PageParams, type Table } from '../table.ts';
import { matches } from '../webhooks.ts';
import { type Call, type Handler, idOf, type Tables } from '../world.ts';
import { invalid } from './errors.ts';

type Doc = { id: string; object: string };
type ListParams = PageParams & { customer?: string; subscription?: string; expand?: string[] };
type Range = number | { gt?: number; gte?: number; lt?: number; lte?: number };
type Filters<T> = Record<string, (doc: T, wanted: never) => boolean>;

/** The object that the address names. */
export const retrieve =
  (name: keyof Tables): Handler =>
  (world, call) =>
    world[name].get(idOf(call));

/** Lists a table. A parameter filters by the field of its name, if `filters` does not say more. */
export function list<Name extends keyof Tables>(
  name: Name,
  filters: Filters<ReturnType<Tables[Name]['get']>> = {},
  isListed: (doc: ReturnType<Tables[Name]['get']>, params: object) => boolean = () => true,
): Handler {
  return function listTable(world, { params, path }: Call<ListParams>) {
    const { limit: _, starting_after: _after, expand: _expand, ...wanted } = params;
    if (wanted.customer !== undefined) world.customers.get(wanted.customer, 'customer');
    if (wanted.subscription !== undefined) world.subscriptions.get(wanted.subscription, 'subscription');
    const table = world[name] as unknown as Table<Doc>;
    const found = table.all().filter((doc) => {
      const own = doc as ReturnType<Tables[Name]['get']>;
      return isListed(own, params) && Object.entries(wanted).every(([param, value]) => fits(own, param, value));
    });
    return pageOf(found, params, path, table);
  };

  function fits(doc: ReturnType<Tables[Name]['get']>, param: string, wanted: unknown): boolean {
    const filter = filters[param];
    if (filter) return filter(doc, wanted as never);
    const value = (doc as Record<string, unknown>)[param];
    return param === 'created' ? inRange(value as number, wanted as Range) : value === wanted;
  }
}

/** Whether a time is within a `created` or period filter. */
function inRange(at: number, range: Range): boolean {
  if (typeof range === 'number') return at === range;
  const { gt = -Infinity, gte = -Infinity, lt = Infinity, lte = Infinity } = range;
  return at > gt && at >= gte && at < lt && at <= lte;
}

export const listEvents = list('events', {
  type: ({ type }: StripeEvent, pattern: string) => matches(type, pattern),
});

export const listInvoices = list('invoices', {
  subscription: (invoice: Invoice, wanted: string) => subscriptionOf(invoice) === wanted,
});

export const listInvoicePayments = list('invoicePayments', {
  payment: ({ payment }: InvoicePayment, wanted: { payment_intent: string }) =>
    payment.payment_intent === wanted.payment_intent,
});

export const listPrices = list('prices', {
  lookup_keys({ lookup_key: key }: Price, wanted: string[]) {
    if (wanted.length > 10) throw invalid('You can send at most 10 lookup keys.', 'lookup_keys');
    return wanted.includes(key ?? '');
  },
});

export const listSchedules = list('schedules', { scheduled: (_, wanted: boolean) => !wanted });

export const listSubscriptions = list(
  'subscriptions',
  {
    price: ({ items }: Subscription, wanted: string) => items.data.some(({ price }) => price.id === wanted),
    status: (subscription: Subscription, wanted: string) => wanted === 'all' || subscription.status === wanted,
  },
  (subscription, params) => 'status' in params || !isEnded(subscription),
);
