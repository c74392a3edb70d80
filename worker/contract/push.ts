import * as v from 'valibot';

const endpoint = v.pipe(
  v.string('endpoint must be an address'),
  v.maxLength(1000, 'endpoint must have up to 1,000 characters'),
  v.url('endpoint must be an address'),
);

const base64Url = (name: string, longest: number) =>
  v.pipe(
    v.string(`${name} must be base64url`),
    v.regex(new RegExp(`^[\\w-]{16,${longest}}={0,2}$`), `${name} must be base64url`),
  );

/** What `PushSubscription.toJSON()` returns in a browser. */
export const PushSubscription = v.object({
  endpoint,
  keys: v.object({ p256dh: base64Url('p256dh', 88), auth: base64Url('auth', 24) }),
});

export const PushEndpoint = v.object({ endpoint });

/** The payload of a push message, as JSON; `path` is the page that a click opens. */
export type Notice = { title: string; path: string };
