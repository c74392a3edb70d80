/** What an open usage stream tells the browser, as unnamed server-sent events. */
export type StreamMessage =
  | { type: 'usageUpdate'; count: number }
  | { type: 'subscription_update' }
  | { type: 'subscriptionChange' };

/** The named event that opens every stream. */
export const connectionEstablished = 'connection_established';
