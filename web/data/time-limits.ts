/*
 * How long (ms) the page waits for what is outside of it. Each wait ends with a sentence and a way on.
 * Single constants, since an object would stand in the inline scripts of every page.
 */

/** The whole response to a call that only reads. */
export const reading = 10_000;
export const writing = 15_000;
/** Recordings in both directions, and the export. */
export const transfer = 60_000;
/** A file of the app. */
export const file = 10_000;
/** The first event of a stream. */
export const opening = 10_000;
/** A stream that brings nothing for so long is dead: the server sends a beat every 20 s. */
export const silence = 50_000;
/** The person's response to a question of the browser, as for the microphone. */
export const permission = 30_000;
/** What the browser itself does: playing, subscribing to notices. */
export const browser = 15_000;
