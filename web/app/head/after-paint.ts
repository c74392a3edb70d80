declare global {
  interface Navigator {
    /** Chromium only; in ms. */
    readonly connection?: { readonly rtt?: number };
  }
}

/** They would compete with it for bandwidth and CPU. */
export function loadScriptsAfterPaint(): void {
  addEventListener('DOMContentLoaded', () => {
    const scripts = document.querySelector<HTMLTemplateElement>('#after-paint, #at-start');
    const load = () => scripts && document.head.append(scripts.content);
    if (document.hidden || scripts?.id === 'at-start') return load();
    new PerformanceObserver(load).observe({ type: 'paint', buffered: true });
    setTimeout(load, 1000);
  });
}

/** From this round-trip time (ms) on, preloads delay Chromium's paint by 80 ms (2026-11-22, tests/bench). */
const tooSlowForFonts = 200;

/** Browsers that report no time preload them. */
export function preloadFontsInTime(): void {
  const fonts = document.querySelector<HTMLTemplateElement>('template#fonts');
  const roundTripMs = navigator.connection?.rtt ?? 0;
  if (fonts && roundTripMs < tooSlowForFonts) document.head.append(fonts.content);
}
