/* Constants, since an object would stand in every page's inline scripts. */

export const readingMs = 10_000;
export const writingMs = 15_000;
/** For recordings and the export. */
export const transferMs = 60_000;
export const fileMs = 10_000;
/** For the first event of a stream. */
export const openingMs = 10_000;
/** For the next event of a stream: the server sends a beat every 20 s. */
export const silenceMs = 50_000;
/** For a person's answer, as for the microphone. */
export const permissionMs = 30_000;
/** For playing, and for subscribing to notices. */
export const browserMs = 15_000;
