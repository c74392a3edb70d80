import { decodeJwt } from 'jose';
import type { Person } from './person.ts';

/** A call without its texts. `of` is its caller's phone or user id, `session` the start of the session's id. */
type Call = { of: string | undefined; session: string | undefined; text: string; requestId: string | null };
type Entry = { at: number } & (Call | { of: null; text: string });

/** The caller as the token says, or else as the phone says. */
export function callerOf(token: string | undefined, phone: string | undefined): Pick<Call, 'of' | 'session'> {
  if (!token) return { of: phone, session: undefined };
  const { sub, sid } = decodeJwt<{ sid?: string }>(token);
  return { of: sub, session: sid?.slice(0, 8) };
}

/** Every call and fault of a run, so that a broken invariant can be explained. */
export class Timeline {
  readonly #entries: Entry[] = [];

  /** Records a fault or its end. */
  note(text: string): void {
    this.#entries.push({ at: Date.now(), of: null, text });
  }

  /** Records a call that began at an instant (unix ms). */
  call(at: number, call: Call): void {
    this.#entries.push({ at, ...call });
  }

  /** A line for each call of a user and each fault, in the order of their beginning; a call's log lines follow it. */
  linesOf({ phone, token }: Person, logLines: Map<string | undefined, string[]>): string[] {
    const names = [phone, callerOf(token, phone).of];
    const own = this.#entries.filter(({ of }) => of === null || (of !== undefined && names.includes(of)));
    return own
      .toSorted((a, b) => a.at - b.at)
      .flatMap((entry) => {
        const at = new Date(entry.at).toISOString();
        if (entry.of === null) return [`${at} --- ${entry.text}`];
        const { session = '-', text, requestId } = entry;
        const logged = requestId === null ? [] : (logLines.get(requestId) ?? []);
        return [`${at} ${text}, session ${session}, request ${requestId ?? '-'}`, ...logged];
      });
  }
}
