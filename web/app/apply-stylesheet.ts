/**
 * Applies the whole stylesheet, of which the served page holds only its own rules, and waits for it: the app can then
 * show anything. If the file is missing after a deployment, the page is loaded again (`reload-after-deployment.ts`).
 */
export async function applyStylesheet(): Promise<void> {
  const href = document.querySelector<HTMLLinkElement>('link[rel=preload][as=style]')?.href;
  if (!href) return;
  const link = Object.assign(document.createElement('link'), { rel: 'stylesheet', href });
  await new Promise<void>((resolve) => {
    link.addEventListener('load', () => resolve());
    link.addEventListener('error', () => {
      dispatchEvent(new Event('vite:preloadError', { cancelable: true }));
      resolve();
    });
    document.head.append(link);
  });
}
