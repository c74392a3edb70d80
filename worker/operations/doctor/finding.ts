/**
 * One line of the doctor: in order, a warning, wrong, or something that only a person can check; all but the first with
 * the next step. None may hold a secret.
 */
export type Finding =
  | { ok: true; about: string; warning?: never; byHand?: never }
  | { ok: true; about: string; warning?: never; byHand: string; mend: string }
  | { ok: true; about: string; warning: string; byHand?: never; mend: string }
  | { ok: false; about: string; wrong: string; mend: string };

/** Something is as it should be. */
export function fine(about: string): Finding {
  return { ok: true, about };
}

/** Something that the owner should know, and that stops no deployment. */
export function warning(about: string, what: string, mend: string): Finding {
  return { ok: true, about, warning: what, mend };
}

/** What no service tells: a person looks. */
export function byHand(about: string, what: string, mend: string): Finding {
  return { ok: true, about, byHand: what, mend };
}

/** `about` names the setting at fault. */
export function wrong(about: string, what: string, mend: string): Finding {
  return { ok: false, about, wrong: what, mend };
}

/** The finding as people read it. */
export function lineOf(finding: Finding): string {
  if (!finding.ok) return `✗ ${finding.about}: ${finding.wrong}. ${finding.mend}`;
  if (finding.byHand) return `? ${finding.about}, check by hand: ${finding.byHand}. ${finding.mend}`;
  return finding.warning ? `! ${finding.about}: ${finding.warning}. ${finding.mend}` : `✓ ${finding.about}`;
}
