import * as v from 'valibot';

export const publicPushHosts =
  'fcm.googleapis.com jmt17.google.com android.googleapis.com updates.push.services.mozilla.com *.push.apple.com *.notify.windows.com';

const endpoint = v.pipe(
  v.string('endpoint must be an address'),
  v.maxLength(1000, 'endpoint can have up to 1,000 characters'),
  v.url('endpoint must be an address'),
);

/** Base64url of exactly so many bytes; some browsers pad it. */
function base64Url(name: string, bytes: number) {
  const characters = Math.ceil((4 * bytes) / 3);
  const rule = `${name} must be ${bytes} bytes in base64url`;
  return v.pipe(
    v.string(rule),
    v.regex(new RegExp(`^[\\w-]{${characters}}={0,2}$`), rule),
    v.transform((text) => text.replace(/=+$/, '')),
  );
}

export const PushSubscription = v.object({
  endpoint,
  keys: v.object(
    { p256dh: base64Url('p256dh', 65), auth: base64Url('auth', 16) },
    'keys must be an object',
  ),
});

export const PushEndpoint = v.object({ endpoint });

/** `path` is the page that a click opens. */
export type Notice = { title: string; path: string };
