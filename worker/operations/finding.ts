/** One line of the doctor: something in order, or what is wrong and how to mend it. Neither may hold a secret. */
export type Finding = { ok: true; about: string } | { ok: false; about: string; wrong: string; mend: string };

/** Something is as it should be. */
export function fine(about: string): Finding {
  return { ok: true, about };
}

/** `about` names the setting at fault. */
export function wrong(about: string, what: string, mend: string): Finding {
  return { ok: false, about, wrong: what, mend };
}

/** The finding as people read it. */
export function lineOf(finding: Finding): string {
  return finding.ok ? `✓ ${finding.about}` : `✗ ${finding.about}: ${finding.wrong}. ${finding.mend}`;
}
