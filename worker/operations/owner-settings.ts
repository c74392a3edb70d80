import * as v from 'valibot';

const httpsAddress = v.pipe(v.string(), v.url(), v.regex(/^https?:\/\//));
const optional = <Rule extends v.GenericSchema<string>>(rule: Rule) => v.optional(v.union([v.literal(''), rule]), '');

/** Settings of the owner's commands; the Worker does not get them. */
export const OwnerSettings = v.object({
  /** The address that accepts the contact form's messages as JSON; the build writes it into the page. */
  CONTACT_URL: optional(httpsAddress),
  /** The date on which a named person of the team last read every help line's page. */
  HELP_LINES_READ_ON: optional(v.pipe(v.string(), v.isoDate())),
});

export type OwnerSettings = v.InferOutput<typeof OwnerSettings>;
export type OwnerSettingName = keyof OwnerSettings;

export const howToGetOwnerSettings: Record<OwnerSettingName, string> = {
  CONTACT_URL:
    'Write the https address of a webhook or form service that takes JSON by POST and allows the site in CORS.',
  HELP_LINES_READ_ON:
    'Let a named person read every page in worker/contract/help-lines.ts, then write the date, such as 2026-11-21.',
};
