/** The version of Stripe's API that is spoken here. */
export const apiVersion = '2026-10-28.endive';
