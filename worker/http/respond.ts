/** What every answer of the API carries; made once, as each header that is made for an answer costs it. */
const always = new Headers({
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  vary: 'Origin',
});

/** JSON under the API's headers and some of its own. */
export function jsonAnswer(body: unknown, own: Record<string, string>, status = 200): Response {
  return withHeaders(Response.json(body, { status, headers: always }), Object.entries(own));
}

/** The same for an answer of another kind. */
export function plainAnswer(answer: Response, own: Record<string, string>): Response {
  return withHeaders(answer, [...always, ...Object.entries(own)]);
}

function withHeaders(answer: Response, headers: [name: string, value: string][]): Response {
  for (const [name, value] of headers) answer.headers.set(name, value);
  return answer;
}
