import { useEffect } from 'react';

/**
 * Keeps `--visual-height` at the height above the on-screen keyboard. iOS Safari shrinks only the visual viewport
 * (WebKit does not support `interactive-widget`).
 */
export function useVisualHeight(): void {
  useEffect(() => {
    const viewport = window.visualViewport;
    if (!viewport) return undefined;
    const { style } = document.documentElement;
    // Zooming also makes the visual viewport smaller.
    const update = () => viewport.scale === 1 && style.setProperty('--visual-height', `${viewport.height}px`);
    update();
    viewport.addEventListener('resize', update);
    return () => {
      viewport.removeEventListener('resize', update);
      style.removeProperty('--visual-height');
    };
  }, []);
}
