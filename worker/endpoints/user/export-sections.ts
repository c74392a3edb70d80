import { exportBilling } from '../../billing/customer.ts';
import { exportOutbox } from '../../bot/export-outbox.ts';
import { exportConversation } from '../../chat/export-conversation.ts';
import { exportSignIn } from '../../sign-in/export-sign-in.ts';
import { exportTrials } from '../../trials/export-trials.ts';
import type { ExportSection } from '../../accounts/export-user.ts';

/** Tables that another section covers, or that have no user. */
const notes: ExportSection = async () => ({
  notes: [
    'Messages on WhatsApp are kept by WhatsApp and by the assistant.',
    'Responses to the assistant are kept for 7 days under the ids of its calls, with your count at that time.',
  ],
});

/** The sections of an export: a feature that stores data about users adds its section here. */
export const exportSections: ExportSection[] = [
  exportSignIn,
  exportTrials,
  exportBilling,
  exportConversation,
  exportOutbox,
  notes,
];
