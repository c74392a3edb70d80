/** The limits of one message, in UTF-16 code units. */
export const longestMessage = 4000;
export const longestReply = 8000;
export const messagesPerPage = 50;
/** For which the bot may say that a reply is being written. */
export const longestTypingSeconds = 30;
/** A stream that missed more revisions gets `reset`. */
export const mostReplayedChanges = 200;
/**
 * The limits of a recording. The bytes hold its seconds
 * even if a browser ignores the bit rate that is asked for.
 */
export const longestRecordingSeconds = 120;
export const largestRecordingBytes = 1_900_000;
/**
 * In the day after a crisis, in which no allowance refuses
 * a message: the bytes of a person's recordings together.
 */
export const mostRecordedInCrisis = 20_000_000;
/** The containers that a recording may have; each plays in every browser of 2026. */
export const audioTypes = ['audio/webm', 'audio/mp4', 'audio/ogg'] as const;

/**
 * The version in force of the notice that people accept before they write, as in `web/words`:
 * a new one, of 1 to 32 characters, asks everybody again.
 */
export const consentVersion = '2026-11-21';
/** All that were published; older ones go before it. */
export const consentVersions: readonly string[] = [consentVersion];
