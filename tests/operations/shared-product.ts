import { inject } from 'vitest';

/** The product that `start-shared-product.ts` starts once for all tests that only use it. */
export type SharedProduct = {
  siteUrl: string;
  sandboxUrl: string;
  vars: Record<string, string>;
  auditFile: string;
  /** Sends the Worker's events to another bot, or with null to the local one again. */
  botSwitchUrl: string;
};

declare module 'vitest' {
  interface ProvidedContext {
    product: SharedProduct;
  }
}

export const product = inject('product');

/** The JSON of a call to the site or to the local services. */
export async function call<T = Record<string, any>>(
  url: string,
  method = 'GET',
  body?: object,
  token = '',
): Promise<T> {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return response.json() as Promise<T>;
}
