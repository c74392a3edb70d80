export const replyTag = 'reply';

/** For whose session this browser shows notices. */
export const noticesKey = 'notices';

/** Its reply was read, or is nobody's here any more. */
export async function closeShownNotices(): Promise<void> {
  try {
    const registration = await navigator.serviceWorker?.getRegistration();
    const shown = (await registration?.getNotifications?.({ tag: replyTag })) ?? [];
    for (const notice of shown) notice.close();
  } catch {
    // A browser without them shows none.
  }
}
