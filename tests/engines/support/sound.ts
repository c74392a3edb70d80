import type { Page } from './page.ts';

declare global {
  interface Window {
    /** The longest time (s) that each player has played. */
    played: number[];
  }
}

/** Records what the page plays from now on. */
export const watchPlayers = (page: Page) =>
  page.run(() => {
    window.played = [];
    const players: HTMLMediaElement[] = [];
    window.Audio = new Proxy(Audio, {
      construct(target) {
        const player = new target();
        const index = players.push(player) - 1;
        player.addEventListener('timeupdate', () => {
          window.played[index] = Math.max(window.played[index] ?? 0, player.currentTime);
        });
        return player;
      },
    });
  });

export const playedSeconds = (page: Page) => page.run(() => Math.max(0, ...window.played));
