/** The version of Stripe's API that the local Stripe supports. */
export const apiVersion = '2026-10-28.endive';
