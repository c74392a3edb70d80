/**
 * One line of the doctor: in order, a warning, wrong, or something that only a person can check; all but the first with
 * the next step. None may hold a secret.
 */
export type Finding =
  | { ok: true; about: string; warning?: never; byHand?: never }
  | { ok: true; about: string; warning?: never; byHand: string; remedy: string }
  | { ok: true; about: string; warning: string; byHand?: never; remedy: string }
  | { ok: false; about: string; wrong: string; remedy: string };

/** Something is in order. */
export function fine(about: string): Finding {
  return { ok: true, about };
}

/** A problem that does not stop a deployment. */
export function warning(about: string, what: string, remedy: string): Finding {
  return { ok: true, about, warning: what, remedy };
}

/** What no service tells: a person looks. */
export function byHand(about: string, what: string, remedy: string): Finding {
  return { ok: true, about, byHand: what, remedy };
}

/** `about` names the setting at fault. */
export function wrong(about: string, what: string, remedy: string): Finding {
  return { ok: false, about, wrong: what, remedy };
}

/** The finding as a line of text. */
export function lineOf(finding: Finding): string {
  if (!finding.ok) return `✗ ${finding.about}: ${finding.wrong}. ${finding.remedy}`;
  if (finding.byHand) return `? ${finding.about}, check by hand: ${finding.byHand}. ${finding.remedy}`;
  return finding.warning ? `! ${finding.about}: ${finding.warning}. ${finding.remedy}` : `✓ ${finding.about}`;
}
