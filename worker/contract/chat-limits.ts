/** The limits of one message, in UTF-16 code units. */
export const longestMessage = 4000;
export const longestReply = 8000;
/** Messages that one page of the conversation holds at most. */
export const messagesPerPage = 50;
/** A stream that is further behind (revisions) gets `reset`. */
export const mostReplayedChanges = 200;
