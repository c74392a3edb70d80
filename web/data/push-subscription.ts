import { requestAs } from './api-client.ts';
import { tokenMark } from '../rules/token-claims.ts';
import { isInApp } from '../rules/in-app.ts';
import { ApiError } from './api-error.ts';
import * as timeLimits from './time-limits.ts';
import { closeShownNotices, noticesKey } from './shown-notices.ts';
import { within } from './promise-limit.ts';
import { storage } from './store.ts';

declare global {
  interface Navigator {
    /** Only Safari on iOS has it. */
    readonly standalone?: boolean;
  }
}

/** What the settings show. `install`: this browser notifies installed sites only. */
export type NoticeState = 'unavailable' | 'install' | 'denied' | 'off' | 'on';

/** Reads the state of notices, and renews a subscription, since keys change. */
export async function readNotices(token: string): Promise<NoticeState> {
  if (!('PushManager' in globalThis) || !('serviceWorker' in navigator))
    return navigator.standalone === false && !isInApp(navigator) ? 'install' : 'unavailable';
  const publicKey = await readKey(token);
  if (publicKey === null) return 'unavailable';
  if (Notification.permission === 'denied') return 'denied';
  if (!isOn(token)) return 'off';
  return subscribe(token, publicKey);
}

const isOn = (token: string) =>
  Notification.permission === 'granted' && storage.read(noticesKey) === tokenMark(token);

/** A browser drops a subscription with its permission, and does not make another when it is granted again. */
export async function renewLostSubscription(token: string): Promise<void> {
  if (!isOn(token)) return;
  const registration = await navigator.serviceWorker.getRegistration();
  if (!(await registration?.pushManager.getSubscription())) await readNotices(token);
}

/** People change the permission in the browser's own settings, too. Returns what ends the listening. */
export function followPermission(listener: () => void): () => void {
  const listening = new AbortController();
  // Browsers inside apps have no permissions.
  if (!('permissions' in navigator)) return () => null;
  const follow = (permission: PermissionStatus) =>
    permission.addEventListener('change', listener, listening);
  navigator.permissions.query({ name: 'notifications' }).then(follow, () => null);
  return () => listening.abort();
}

/** Turns on notices; call it in a click's handler. Throws if the push service or the API do not respond. */
export async function turnOnNotices(token: string): Promise<NoticeState> {
  const permission = await within(timeLimits.permissionMs, Notification.requestPermission());
  if (permission !== 'granted') return permission === 'denied' ? 'denied' : 'off';
  const publicKey = await readKey(token);
  return publicKey === null ? 'unavailable' : subscribe(token, publicKey);
}

export async function turnOffNotices(token: string): Promise<NoticeState> {
  const registration = await navigator.serviceWorker.getRegistration();
  const subscription = await registration?.pushManager.getSubscription();
  if (subscription) await requestAs(token, 'deletePush', { endpoint: subscription.endpoint });
  storage.remove(noticesKey);
  await closeShownNotices();
  await subscription?.unsubscribe();
  return 'off';
}

/** Returns the server's key; null where the product has notices turned off. */
async function readKey(token: string): Promise<string | null> {
  try {
    return (await requestAs(token, 'getPush')).publicKey;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

async function subscribe(token: string, publicKey: string): Promise<NoticeState> {
  await navigator.serviceWorker.register('/sw.js');
  const { pushManager } = await within(timeLimits.browserMs, navigator.serviceWorker.ready);
  const subscription = await subscriptionWith(publicKey, pushManager);

  const { endpoint, keys } = subscription.toJSON();
  const { p256dh = '', auth = '' } = keys ?? {};
  await requestAs(token, 'putPush', { endpoint: endpoint ?? '', keys: { p256dh, auth } });
  storage.write(noticesKey, tokenMark(token));
  return 'on';
}

/** Returns the present subscription if it has this key, else a new one in its place. */
async function subscriptionWith(
  publicKey: string,
  pushManager: PushManager,
): Promise<PushSubscription> {
  const present = await pushManager.getSubscription();
  if (present && base64Url(present.options.applicationServerKey) === publicKey) return present;

  await present?.unsubscribe();
  const options = { userVisibleOnly: true, applicationServerKey: publicKey };
  return within(timeLimits.browserMs, pushManager.subscribe(options));
}

function base64Url(bytes: ArrayBuffer | null): string {
  const text = btoa(String.fromCharCode(...new Uint8Array(bytes ?? new ArrayBuffer(0))));
  return text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}
