export type StreamMessage =
  | { type: 'usageUpdate'; count: number }
  | { type: 'subscription_update' }
  | { type: 'subscriptionChange' };

/** Its data holds the profile as of that moment. */
export const connectionEstablished = 'connection_established';

/** A newer stream replaced it; reconnecting would end another. */
export const streamReplaced = 'stream_replaced';

/** At least every 20 s, with the server's time (ISO 8601). */
export const streamBeat = 'beat';
