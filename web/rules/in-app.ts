type Device = Pick<Navigator, 'userAgent'> & { standalone?: boolean };

const apps =
  /; wv\)|FBA[NV]|FB_IAB|Instagram|WhatsApp|TikTok|musical_ly|Bytedance|Telegram|Snapchat|Pinterest|LinkedInApp|Twitter|Line\/|MicroMessenger/;

/** Whether this is a browser inside an app, which drops files and tabs silently. */
export function isInApp({ userAgent, standalone = false }: Device): boolean {
  if (apps.test(userAgent)) return true;
  // On iOS whole browsers say that they are like Safari.
  return /\((iPhone|iPad|iPod)/.test(userAgent) && !/Safari\//.test(userAgent) && !standalone;
}
