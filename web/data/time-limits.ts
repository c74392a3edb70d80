/* ms. Constants, since an object would stand in every page's inline scripts. */

export const reading = 10_000;
export const writing = 15_000;
/** Recordings, and the export. */
export const transfer = 60_000;
export const file = 10_000;
/** The first event of a stream. */
export const opening = 10_000;
/** The server sends a beat every 20 s. */
export const silence = 50_000;
/** A person's answer, as for the microphone. */
export const permission = 30_000;
/** Playing, subscribing to notices. */
export const browser = 15_000;
