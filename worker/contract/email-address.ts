import * as v from 'valibot';

/** What browsers accept in a field for e-mail, with a dot in the domain. */
export const emailAddress = (rule: string) =>
  v.pipe(
    v.string(rule),
    v.transform(readAddress),
    v.maxLength(254, rule),
    v.rfcEmail(rule),
    v.regex(/@.+\../, rule),
  );

/** The address in a link, in a mail program's `Name <address>`, and in other widths. */
function readAddress(pasted: string): string {
  const text = pasted
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .trim()
    .replaceAll(/^(?:mailto:|[^<>]*<)|>$/gi, '');

  return text.replace(/[^@]*[^@\p{ASCII}][^@]*$/u, domainName);
}

/** As the network spells it. Not all browsers do so in their fields. */
function domainName(domain: string): string {
  try {
    return new URL(`http://${domain}`).hostname;
  } catch {
    return domain;
  }
}
