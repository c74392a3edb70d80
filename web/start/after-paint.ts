import { heldApp, heldUntil, template } from './protocol.ts';

declare global {
  interface Navigator {
    /** Chromium only; in ms. */
    readonly connection?: { readonly rtt?: number };
  }
}

/** Loads the held app after the paint, with which it would compete for bandwidth and CPU. */
export function startHeldApp(): void {
  addEventListener('DOMContentLoaded', () => {
    const held = heldApp();
    if (!held) return;

    const load = () => document.head.append(held.content);
    if (document.hidden || heldUntil(held) === 'parsed') return load();
    new PerformanceObserver(load).observe({ type: 'paint', buffered: true });
    setTimeout(load, 1000);
  });
}

/** From this round-trip time (ms) on, preloads delay Chromium's paint. */
const tooSlowForFonts = 200;

/** Preloads them, unless the browser reports a slow connection. */
export function preloadFontsInTime(): void {
  const fonts = template('fonts');
  const roundTripMs = navigator.connection?.rtt ?? 0;
  if (fonts && roundTripMs < tooSlowForFonts) document.head.append(fonts.content);
}
