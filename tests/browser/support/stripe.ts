type Holdings = {
  customer: Record<string, unknown>;
  subscriptions: { id: string; status: string; items: { data: { price: { lookup_key: string } }[] } }[];
  invoices: { status: string; total: number }[];
};

async function control<T>(method: string, path: string, body?: object): Promise<T> {
  const init = body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {};
  const response = await fetch(`${process.env.SANDBOX_URL}/stripe/${path}`, { method, ...init });
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
  return response.json() as Promise<T>;
}

export const hour = 3600;
export const day = 24 * hour;

/** The control calls of the local Stripe. */
export const stripe = {
  advance: (seconds: number) => control<{ now: number }>('POST', 'clock', { advanceSeconds: seconds }),
  holdings: (phone: string) => control<Holdings>('GET', `customers/${encodeURIComponent(phone)}`),
  card: (phone: string, declines: boolean) =>
    control('POST', `customers/${encodeURIComponent(phone)}/card`, { declines }),
  dispute: (phone: string) => control('POST', `customers/${encodeURIComponent(phone)}/dispute`),
  webhooks: (mode: 'deliver' | 'hold') => control('PUT', 'webhooks', { mode }),
  redeliver: (order: 'original' | 'reversed', times: number) => control('POST', 'webhooks/redeliver', { order, times }),
};
