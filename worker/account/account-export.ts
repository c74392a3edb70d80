import { eq, inArray } from 'drizzle-orm';
import { rateLimitEvents, users } from '#db/schema';
import type { Language } from '../contract/languages.ts';
import { exportBilling } from '../billing/billing-export.ts';
import {
  billingCallSubject,
  billingPageSubject,
  withdrawalSubject,
} from '../billing/billing-limits.ts';
import { exportOutbox } from '../bot/outbox.ts';
import { exportConsents } from '../chat/consent.ts';
import { exportConversation } from '../chat/conversation.ts';
import { exportRecordings } from '../chat/recordings.ts';
import { exportNotices } from '../push/reply-notices.ts';
import { RequestError } from '../lib/request-error.ts';
import { hourMs } from '../lib/time.ts';
import { exportSignIn } from '../sign-in/sign-in-export.ts';
import { exportTrials } from '../trials/trials.ts';
import { exportWithdrawals } from '../withdrawal/withdrawal-export.ts';
import { exportLeftWeek } from '../usage/week.ts';
import { phoneChangeSubject } from './stored-change.ts';
import { exportIdentity } from '../identity/identity-export.ts';
import type { ExportSection } from '../identity/user-record.ts';
import type { WithEnv } from '../env.ts';
import type { Scope } from '../request-scope.ts';

/** All users share Stripe's rate limit. */
export const exportLimits = [{ most: 5, per: hourMs }];
export const exportSubject = (userId: string) => `exports:${userId}`;

const notes: Record<Language, string[]> = {
  en: [
    'Messages on WhatsApp are kept by WhatsApp and by the assistant.',
    'Responses to the assistant are kept for 7 days under keyed hashes of the ids of its calls, with your count at that time.',
  ],
  es: [
    'Los mensajes de WhatsApp los guardan WhatsApp y el asistente.',
    'Las respuestas al asistente se guardan 7 días con un hash con clave del identificador de cada llamada y con el número de mensajes que llevabas en ese momento.',
  ],
  'pt-BR': [
    'As mensagens do WhatsApp ficam guardadas no WhatsApp e com o assistente.',
    'As respostas ao assistente ficam guardadas por 7 dias com um hash com chave do identificador de cada chamada e com a quantidade de mensagens que você tinha usado até aquele momento.',
  ],
};

export const subjectsOfAccount = (userId: string): string[] =>
  [
    exportSubject,
    phoneChangeSubject,
    billingPageSubject,
    billingCallSubject,
    withdrawalSubject,
  ].map((subjectOf) => subjectOf(userId));

const sections: ExportSection[] = [
  exportIdentity,
  exportSignIn,
  exportConsents,
  exportTrials,
  exportBilling,
  exportWithdrawals,
  exportOutbox,
  exportNotices,
  exportLeftWeek,
  exportOwnLimits,
];

async function exportOwnLimits({ user, db }: Parameters<ExportSection>[0]) {
  const { subject, at } = rateLimitEvents;
  const rows = await db
    .select({ subject, at })
    .from(rateLimitEvents)
    .where(inArray(subject, subjectsOfAccount(user.id)));
  return {
    limitsOfAccount: rows.map((row) => ({
      what: row.subject.split(':')[0],
      at: row.at,
    })),
  };
}

/** A number at or above it is an instant in unix ms. */
const firstInstant = 1_000_000_000_000;

/** JSON. Throws 404, and if one section fails. */
export async function exportAccount(
  { db, env, settings, language }: Scope<'language' | 'db' | 'settings'> & WithEnv,
  userId: string,
): Promise<ReadableStream> {
  const [user] = await db.select().from(users).where(eq(users.id, userId));
  if (!user) throw new RequestError('notFound');
  const conversation = exportConversation({ user, env, settings });
  const parts = await Promise.all([
    ...sections.map((section) => section({ user, db, settings })),
    conversation,
  ]);
  // The wrapped key of the conversation is a secret.
  const { chatKey: _key, chatKeyId: _keyId, ...account } = user;
  const data: object = Object.assign({ account, notes: notes[language] }, ...parts);
  const text = JSON.stringify(data, withReadableInstants, 2);
  const recordings = exportRecordings({ env, settings }, user, (await conversation).conversation);
  return streamOf(withRecordings(text, recordings));
}

async function* withRecordings(
  text: string,
  recordings: AsyncIterable<object>,
): AsyncGenerator<string> {
  yield `${text.slice(0, text.lastIndexOf('}')).trimEnd()},\n  "recordings": [`;
  let separator = '\n    ';
  for await (const recording of recordings) {
    yield separator + JSON.stringify(recording);
    separator = ',\n    ';
  }
  yield ']\n}';
}

function streamOf(parts: AsyncGenerator<string>): ReadableStream {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await parts.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
  });
}

function withReadableInstants(_key: string, value: unknown): unknown {
  return typeof value === 'number' && value >= firstInstant ? new Date(value).toISOString() : value;
}
