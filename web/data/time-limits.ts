/* ms. Constants, since an object would stand in every page's inline scripts. */

export const reading = 10_000;
export const writing = 15_000;
/** For recordings and the export. */
export const transfer = 60_000;
export const file = 10_000;
/** For the first event of a stream. */
export const opening = 10_000;
/** For the next event of a stream: the server sends a beat every 20 s. */
export const silence = 50_000;
/** For a person's answer, as for the microphone. */
export const permission = 30_000;
/** For playing, and for subscribing to notices. */
export const browser = 15_000;
