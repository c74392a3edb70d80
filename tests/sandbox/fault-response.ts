export const services = ['libsql', 'stripe', 'whatsapp', 'bot'] as const;
export type Service = (typeof services)[number];

const words: Record<Service, object> = {
  libsql: { error: 'Out of order' },
  stripe: { error: { type: 'api_error', message: 'Out of order' } },
  whatsapp: {
    error: { message: '(#131000) Something went wrong', type: 'OAuthException', code: 131_000, fbtrace_id: 'x' },
  },
  bot: { error: 'Out of order' },
};

/** The response of a broken service, in its own format. */
export function faultResponse(service: Service, status: number): Response {
  const bodiless = status === 204 || status === 205 || status === 304;
  return bodiless ? new Response(null, { status }) : Response.json(words[service], { status });
}
