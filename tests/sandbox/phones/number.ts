import type { Context } from 'hono';

/** The digits of a path's `:phone`, in any spelling; undefined if it is no number. */
export function numberOf(c: Context): string | undefined {
  const digits = (c.req.param('phone') ?? '').replace(/[\s+().-]/g, '');
  return /^\d{5,20}$/.test(digits) ? digits : undefined;
}
