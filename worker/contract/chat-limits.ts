export const longestMessage = 4000;
export const longestReply = 8000;
export const messagesPerPage = 50;
/** A stream that missed more revisions gets `reset`. */
export const mostReplayedChanges = 200;
/** The bytes hold the seconds at any bit rate. */
export const longestRecordingSeconds = 120;
export const largestRecordingBytes = 1_900_000;
/** In the day after a crisis no allowance refuses a message. */
export const mostRecordedInCrisis = 20_000_000;
/** Each plays in every browser of 2026. */
export const audioTypes = ['audio/webm', 'audio/mp4', 'audio/ogg'] as const;

/** A new version (1 to 32 characters) asks everybody again. */
export const consentVersion = '2026-11-21';
export const consentVersions: readonly string[] = [consentVersion];
