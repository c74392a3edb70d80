/**
 * Applies the whole stylesheet, of which the served page holds only its own rules, and waits for it: the app can then
 * show anything. If the file is missing after a deployment, the page is loaded again (`reload-after-deployment.ts`).
 */
export async function applyStylesheet(): Promise<void> {
  const href = document.querySelector<HTMLLinkElement>('link[rel=preload][as=style]')?.href;
  // The first attempt gets the response to the preload, which may have failed before the connection came back.
  if (!href || (await apply(href)) || (await apply(href))) return;
  dispatchEvent(new Event('vite:preloadError', { cancelable: true }));
}

function apply(href: string): Promise<boolean> {
  const link = Object.assign(document.createElement('link'), { rel: 'stylesheet', href });
  return new Promise((resolve) => {
    link.addEventListener('load', () => resolve(true));
    link.addEventListener('error', () => resolve(false));
    document.head.append(link);
  });
}
