/** The fields of the API's response that determine the bot's reply. */
export type Usage = {
  allowed: boolean;
  used: number;
  limit: number;
  remaining: number;
  voice: boolean;
  resetsAt: string;
};

const kindWords = [
  'Thank you for telling me. What feels heaviest right now?',
  'I hear you. Let us take this one step at a time.',
  'That sounds like a lot to carry. I am glad you wrote.',
  'I am here. Would it help to name what you are feeling?',
  'Take a slow breath with me. What would a good friend say to you now?',
];

export const crisisWords =
  'I am glad that you told me. You deserve help from a person right now: please call your local emergency number or a crisis line.';

/** The reply of Solace, or the reason why there is none. */
export function replyTo(usage: Usage, voice: boolean, siteUrl: string): string {
  if (usage.allowed) return kindWords[usage.used % kindWords.length] ?? '';
  if (voice && !usage.voice) return `Voice messages come with a paid plan. You can choose one here: ${siteUrl}/plans`;
  if (usage.remaining <= 0)
    return `You have used your weekly allowance of ${usage.limit} messages. A new week starts on ${weekday(usage.resetsAt)}. More messages: ${siteUrl}/plans`;
  return 'Your account is waiting for approval. I will be here for you as soon as it is done.';
}

function weekday(iso: string): string {
  return new Intl.DateTimeFormat('en-US', { weekday: 'long', month: 'long', day: 'numeric', timeZone: 'UTC' }).format(
    new Date(iso),
  );
}
