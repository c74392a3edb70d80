/** One line of the doctor: in order, a warning, or wrong; the last two with the next step. None may hold a secret. */
export type Finding =
  | { ok: true; about: string; warning?: never }
  | { ok: true; about: string; warning: string; remedy: string }
  | { ok: false; about: string; wrong: string; remedy: string };

/** Something is as it should be. */
export function fine(about: string): Finding {
  return { ok: true, about };
}

/** Something that the owner should know, and that stops no deployment. */
export function warning(about: string, what: string, remedy: string): Finding {
  return { ok: true, about, warning: what, remedy };
}

/** `about` names the setting at fault. */
export function wrong(about: string, what: string, remedy: string): Finding {
  return { ok: false, about, wrong: what, remedy };
}

/** The finding as people read it. */
export function lineOf(finding: Finding): string {
  if (!finding.ok) return `✗ ${finding.about}: ${finding.wrong}. ${finding.remedy}`;
  return finding.warning ? `! ${finding.about}: ${finding.warning}. ${finding.remedy}` : `✓ ${finding.about}`;
}
