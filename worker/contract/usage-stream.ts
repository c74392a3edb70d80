/** What an open usage stream tells the browser, as unnamed server-sent events. */
export type StreamMessage =
  | { type: 'usageUpdate'; count: number }
  | { type: 'subscription_update' }
  | { type: 'subscriptionChange' };

/** The named event that opens every stream; a usage stream's data holds the profile as of that moment. */
export const connectionEstablished = 'connection_established';

/** The named event before the end of a stream that made room for a newer one: who reconnects ends another. */
export const streamReplaced = 'stream_replaced';
