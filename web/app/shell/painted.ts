/**
 * Resolves after the next paint. An intersection is reported right before a paint, and a message arrives after it;
 * hidden pages do neither.
 */
export function painted(): Promise<void> {
  if (document.hidden) return Promise.resolve();
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', () => resolve(), { once: true });
    port1.start();
    const observer = new IntersectionObserver(() => {
      observer.disconnect();
      port2.postMessage(null);
    });
    observer.observe(document.documentElement);
  });
}
