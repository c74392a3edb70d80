export const replyTag = 'reply';

/** The key of the session for which this browser shows notices. */
export const noticesKey = 'notices';

/** Closes notices: their reply was read, or the session has ended. */
export async function closeShownNotices(): Promise<void> {
  try {
    const registration = await navigator.serviceWorker?.getRegistration();
    const shown = (await registration?.getNotifications?.({ tag: replyTag })) ?? [];
    for (const notice of shown) notice.close();
  } catch {
    // This browser has no notices.
  }
}
