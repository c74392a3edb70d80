export type StreamMessage =
  | { type: 'usageUpdate'; count: number }
  | { type: 'subscription_update' }
  | { type: 'subscriptionChange' };

/**
 * The named event that opens every stream; a usage
 * stream's data holds the profile as of that moment.
 */
export const connectionEstablished = 'connection_established';

/**
 * The named event before the end of a stream that a newer
 * one replaced; reconnecting would end another stream.
 */
export const streamReplaced = 'stream_replaced';

/**
 * The named event that each stream sends at least every 20
 * s. Its data is `{"at": …}`, the server's time (ISO 8601).
 */
export const streamBeat = 'beat';
