import { connectionCountry } from '../../http/connection-country.ts';
import type { Handler } from '../../http/handler.ts';

/** Nothing is stored or logged: the page of crisis lines shows those of the country where the person is. */
export const getCountry: Handler<'getCountry'> = async ({ request }) => ({
  success: true,
  country: connectionCountry(request),
});
