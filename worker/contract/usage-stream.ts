export type StreamMessage =
  | { type: 'usageUpdate'; count: number }
  | { type: 'subscription_update' }
  | { type: 'subscriptionChange' };

/** Opens every stream; a usage stream's data holds the profile as of that moment. */
export const connectionEstablished = 'connection_established';

/** A newer stream replaced it; reconnecting would end another. */
export const streamReplaced = 'stream_replaced';

/** At least every 20 s; its data is `{"at": …}`, the server's time (ISO 8601). */
export const streamBeat = 'beat';
