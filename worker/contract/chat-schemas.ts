import * as v from 'valibot';
import {
  audioTypes,
  consentVersions,
  largestRecordingBytes,
  longestMessage,
  longestRecordingSeconds,
  longestReply,
  messagesPerPage,
} from './chat-limits.ts';
import { Timestamp } from './schemas.ts';
import { isComplete, isVisible, withoutControls } from './visible-text.ts';

function messageText(longest: number) {
  const tooLong = `Messages can have up to ${longest.toLocaleString('en-US')} characters.`;
  return v.pipe(
    v.string('Please write a message.'),
    v.maxLength(longest, tooLong),
    v.transform(withoutControls),
    v.check(isVisible, 'Please write a message.'),
    // Half of a surrogate pair has no UTF-8 form.
    v.check(isComplete, 'The message contains an incomplete character. Please remove it.'),
  );
}

export const MessageId = v.pipe(v.string('id must be a UUID'), v.uuid('id must be a UUID'));
export const ReplyId = v.pipe(
  v.string('id must be 1 to 64 visible ASCII characters'),
  v.regex(/^[\x21-\x7e]{1,64}$/, 'id must be 1 to 64 visible ASCII characters'),
);
const wholeNumber = (rule: string) =>
  v.pipe(
    v.string(rule),
    v.regex(/^[1-9]\d{0,14}$/, rule),
    v.transform((text) => Number(text)),
  );

export const NewMessage = v.object({
  id: MessageId,
  text: messageText(longestMessage),
});

const secondsRule = `seconds must be a whole number from 1 to ${longestRecordingSeconds}`;

export const AudioType = v.pipe(
  v.string('type must be one of the audio types'),
  v.maxLength(100, 'type must be one of the audio types'),
  v.regex(
    new RegExp(
      `^(?:${audioTypes.join('|')})(?: ?; ?[a-z\\d-]{1,20}=(?:[\\w.-]{1,40}|"[\\w., -]{1,40}"))*$`,
      'i',
    ),
    'type must be one of the audio types',
  ),
);

export const NewRecording = v.object({
  id: MessageId,
  seconds: v.pipe(wholeNumber(secondsRule), v.maxValue(longestRecordingSeconds, secondsRule)),
});

export const Transcript = messageText(longestMessage);

export const PartialReply = messageText(longestReply);

const longestBase64 = 4 * Math.ceil(largestRecordingBytes / 3);

export const newReplyEntries = {
  id: ReplyId,
  text: messageText(longestReply),
  replyTo: v.optional(
    v.pipe(
      v.string('replyTo must be 1 to 64 visible ASCII characters'),
      v.regex(/^[\x21-\x7e]{1,64}$/, 'replyTo must be 1 to 64 visible ASCII characters'),
    ),
  ),
  crisis: v.optional(v.boolean('crisis must be true or false'), false),
  voice: v.optional(
    v.strictObject({
      type: AudioType,
      seconds: v.pipe(
        v.number(secondsRule),
        v.integer(secondsRule),
        v.minValue(1, secondsRule),
        v.maxValue(longestRecordingSeconds, secondsRule),
      ),
      data: v.pipe(
        v.string('data must be base64'),
        v.minLength(1, 'data must be base64'),
        v.maxLength(longestBase64, `A recording can have up to ${largestRecordingBytes} bytes`),
      ),
    }),
  ),
};

export const ChatPageQuery = v.object({
  before: v.optional(wholeNumber('before must be a whole number from 1')),
  limit: v.optional(
    v.pipe(
      wholeNumber(`limit must be a whole number from 1 to ${messagesPerPage}`),
      v.maxValue(messagesPerPage, `limit must be a whole number from 1 to ${messagesPerPage}`),
    ),
    String(messagesPerPage),
  ),
});

export const ConsentVersion = v.picklist(
  consentVersions,
  `version must be a published one: ${consentVersions.join(', ')}`,
);

export const MessageState = v.picklist(['sent', 'delivered', 'failed']);
export const MessageAuthor = v.picklist(['user', 'solace']);

export const Voice = v.object({
  seconds: v.number(),
  type: v.string(),
  bytes: v.number(),
});

export const ChatMessage = v.object({
  id: v.string(),
  seq: v.number(),
  author: MessageAuthor,
  text: v.string(),
  at: Timestamp,
  state: MessageState,
  replyTo: v.optional(v.string()),
  crisis: v.optional(v.literal(true)),
  voice: v.optional(Voice),
});

export const Consent = v.object({ version: v.string(), at: Timestamp });

export const ChatPage = v.object({
  success: v.literal(true),
  revision: v.number(),
  messages: v.array(ChatMessage),
  hasMore: v.boolean(),
  typingUntil: v.nullable(Timestamp),
  consent: v.nullable(Consent),
});

export type Voice = v.InferOutput<typeof Voice>;
export type ChatMessage = v.InferOutput<typeof ChatMessage>;
export type MessageState = v.InferOutput<typeof MessageState>;
export type MessageAuthor = v.InferOutput<typeof MessageAuthor>;
export type Consent = v.InferOutput<typeof Consent>;
export type ChatPage = v.InferOutput<typeof ChatPage>;

/** `state` is for `sent` messages up to `upTo`. */
export type ChatStreamEvent =
  | { type: 'message'; message: ChatMessage }
  | { type: 'state'; upTo: number; state: Exclude<MessageState, 'sent'> }
  | { type: 'cleared' }
  | { type: 'reset' }
  | { type: 'typing'; until: string | null; text?: string };
