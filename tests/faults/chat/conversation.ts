/** A message as the API returns it. */
export type Message = { id: string; seq: number; author: 'user' | 'solace'; text: string; state: string };

/** Everything that the product has confirmed to one user about the conversation. */
export class Conversation {
  consented = false;
  /** Messages that got a 200 since the last clearing. */
  readonly accepted = new Map<string, Message>();
  /** Every message that was sent, whatever the response was: a lost response may hide a stored message. */
  readonly attempted = new Set<string>();
  /** When a message was first sent, and when it was accepted (`performance.now()`). */
  readonly sentAt = new Map<string, number>();
  readonly acceptedAt = new Map<string, number>();
  /** Messages that were sent again after they had failed: the bot gets them out of order. */
  readonly resent = new Set<string>();
  /** Messages that a clearing removed. */
  readonly cleared = new Set<string>();
  /** Messages that are being sent. */
  readonly inFlight = new Set<string>();
  /** Messages that were in flight during a clearing: it removed them, or they were stored after it. */
  readonly overlapping = new Set<string>();
  /** Replies that this suite wrote as the bot, in the order in which they were accepted since the last clearing. */
  readonly replies: Message[] = [];
  /** When the last clearing had a response, in unix ms. */
  clearedAt = 0;

  /** Messages that a clearing that begins now certainly removes. */
  beginClearing(): Set<string> {
    return new Set([...this.attempted].filter((id) => !this.inFlight.has(id)));
  }

  /** Confirms a clearing that has removed these messages. */
  clear(removed: Set<string>): void {
    for (const id of this.attempted) {
      if (removed.has(id)) this.cleared.add(id);
      else this.overlapping.add(id);
    }
    this.accepted.clear();
    this.replies.length = 0;
    this.clearedAt = Date.now();
  }
}
