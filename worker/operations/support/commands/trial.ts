import * as v from 'valibot';
import { Webhook } from 'standardwebhooks';
import { endpoints } from '../../../contract/endpoints.ts';
import { phoneTag } from '../../../lib/log.ts';
import { UsageError } from '../../target.ts';
import { callApi } from '../call-api.ts';
import { phoneOf } from '../find-user.ts';
import type { SupportCommand } from '../support-command.ts';

const { path, input: Input } = endpoints.botTrials;

/** Creates a trial link through the bot's API call, so that the same rules apply: one trial per number, ever. */
export const trial: SupportCommand = {
  usage: 'trial NUMBER --tier T --days N --yes',
  about: 'a link that starts a trial (basic, premium or platinum; 1 to 30 days); it works once, for 7 days',
  async run({ words, flags, settings }) {
    const phone = phoneOf(words[0]);
    const wanted = { phone, ...(flags.tier && { tier: flags.tier }), ...(flags.days && { days: Number(flags.days) }) };
    const parsed = v.safeParse(Input, wanted);
    if (!parsed.success) throw new UsageError(`--tier takes basic, premium or platinum; --days takes 1 to 30.`);
    const { tier, days } = parsed.output;
    return {
      would: `create a link for ${days} days of ${tier} for ${phone}; who opens it first is signed in as that number`,
      about: await phoneTag(settings.CODE_PEPPER[0]!, phone),
      needsYes: false,
      async perform() {
        const body = JSON.stringify(parsed.output);
        const [id, at] = [`support_${crypto.randomUUID()}`, new Date()];
        const signature = settings.BOT_WEBHOOK_SECRET.map((secret) => new Webhook(secret).sign(id, at, body)).join(' ');
        const headers = {
          'content-type': 'application/json',
          'webhook-id': id,
          'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
          'webhook-signature': signature,
        };
        const { url, expiresAt } = await callApi<{ url: string; expiresAt: string }>(settings, path, {
          method: 'POST',
          headers,
          body,
        });
        return {
          data: { url, expiresAt, tier, days },
          text: `${url}\nSend it to ${phone} only. It works until ${expiresAt}.`,
        };
      },
    };
  },
};
