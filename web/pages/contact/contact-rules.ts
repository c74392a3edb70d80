import * as v from 'valibot';
import { contactWords } from '../../words/contact.ts';

/** The validation rules of the contact form. */
export const ContactMessage = v.object({
  name: v.pipe(v.string(), v.trim(), v.minLength(2, contactWords.nameRule)),
  email: v.pipe(v.string(), v.trim(), v.email(contactWords.emailRule)),
  phone: v.optional(v.pipe(v.string(), v.trim())),
  message: v.pipe(v.string(), v.trim(), v.minLength(10, contactWords.messageRule)),
});

export type ContactMessage = v.InferOutput<typeof ContactMessage>;
export type ContactErrors = Partial<Record<keyof ContactMessage, string>>;

/** The first violated rule of each field. */
export function contactErrors(input: unknown): ContactErrors {
  const result = v.safeParse(ContactMessage, input, { abortPipeEarly: true });
  const nested = result.success ? {} : (v.flatten<typeof ContactMessage>(result.issues).nested ?? {});
  return Object.fromEntries(Object.entries(nested).map(([field, messages]) => [field, messages[0]]));
}
