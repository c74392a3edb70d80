import { template } from './protocol.ts';

declare global {
  interface Navigator {
    /** Chromium only; in ms. */
    readonly connection?: { readonly rtt?: number };
  }
}

/** Loads the app's files after the paint, with which they would compete for bandwidth and CPU. */
export function loadAppAfterPaint(): void {
  addEventListener('DOMContentLoaded', () => {
    if (document.hidden) return loadApp();
    new PerformanceObserver(loadApp).observe({ type: 'paint', buffered: true });
    // A page that is hidden before its paint reports none.
    setTimeout(loadApp, 1000);
  });
}

/** Loads what is still in the template, from which `old-engine.ts` may have taken it away. */
export function loadApp(): void {
  const late = template('late');
  if (late) document.head.append(late.content);
}

/** From this round trip on, preloads delay Chromium's paint. */
const slowRoundTripMs = 200;

/** Preloads the fonts, unless the browser reports a slow connection. */
export function preloadFontsInTime(): void {
  const fonts = template('fonts');
  const roundTripMs = navigator.connection?.rtt ?? 0;
  if (fonts && roundTripMs < slowRoundTripMs) document.head.append(fonts.content);
}
