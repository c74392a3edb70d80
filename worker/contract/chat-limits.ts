/** The limits of one message, in UTF-16 code units. */
export const longestMessage = 4000;
export const longestReply = 8000;
/** The maximum number of messages in one page of the conversation. */
export const messagesPerPage = 50;
/** A stream that missed more revisions gets `reset`. */
export const mostReplayedChanges = 200;

/** The notice that people accept before they write, as `web/words` has it. A new version asks everybody again. */
export const consentVersion = '2026-11-21';
