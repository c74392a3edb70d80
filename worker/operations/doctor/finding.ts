/** One line of the doctor: in order, a warning or an error, the last two with a remedy. It never contains a secret. */
export type Finding =
  | { ok: true; about: string; warning?: never }
  | { ok: true; about: string; warning: string; remedy: string }
  | { ok: false; about: string; wrong: string; remedy: string };

/** Something is in order. */
export function fine(about: string): Finding {
  return { ok: true, about };
}

/** A problem that does not stop a deployment. */
export function warning(about: string, what: string, remedy: string): Finding {
  return { ok: true, about, warning: what, remedy };
}

/** An error; `about` names the setting. */
export function wrong(about: string, what: string, remedy: string): Finding {
  return { ok: false, about, wrong: what, remedy };
}

/** The finding as a line of text. */
export function lineOf(finding: Finding): string {
  if (!finding.ok) return `✗ ${finding.about}: ${finding.wrong}. ${finding.remedy}`;
  return finding.warning ? `! ${finding.about}: ${finding.warning}. ${finding.remedy}` : `✓ ${finding.about}`;
}
