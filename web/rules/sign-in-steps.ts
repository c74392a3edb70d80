import * as v from 'valibot';

/** `challenge`: null if the response was lost; `at`: the server's ms, null if unknown. */
const Issued = v.object({
  phone: v.string(),
  challenge: v.nullable(v.string()),
  at: v.nullable(v.number()),
});

const CodeLimit = v.object({
  phone: v.string(),
  until: v.nullable(v.string()),
  linkCode: v.nullable(v.string()),
});

/** Until then no code is sent, except after a message with the link code. */
export type CodeLimit = v.InferOutput<typeof CodeLimit>;

const SignInStep = v.object({
  step: v.picklist(['phone', 'code', 'contact']),
  phone: v.string(),
  /** Newest first. */
  issued: v.array(Issued),
  /** What the number that never wrote must send. */
  linkCode: v.nullable(v.string()),
  limit: v.nullable(CodeLimit),
});

/** A step costs a code or a message, so the tab keeps it. */
export type SignInStep = v.InferOutput<typeof SignInStep>;

export const firstStep: SignInStep = {
  step: 'phone',
  phone: '',
  issued: [],
  linkCode: null,
  limit: null,
};

/** Reads a stored step; null if it cannot be read. */
export function readStep(stored: unknown): SignInStep | null {
  const read = v.safeParse(SignInStep, stored);
  return read.success ? read.output : null;
}

/** ms; the default of the setting `CODE_LIFETIME_SECONDS`. A longer one only shows a hint too early. */
export const codeLifetimeMs = 5 * 60_000;
/** The most challenges that one call may name. */
const mostChallenges = 3;

type Asked = v.InferOutput<typeof Issued>;

/** Adds a code. Earlier codes of the number stay valid. */
export function withIssued(before: SignInStep, asked: Asked): SignInStep {
  const others = before.issued.filter(({ challenge }) => challenge !== asked.challenge);
  const issued = [asked, ...others].slice(0, mostChallenges);
  return { ...before, phone: asked.phone, issued, linkCode: null, limit: null };
}

/** Returns the number's challenges; undefined if the newest was lost, or there is none. */
export function challengesFor(
  { issued }: SignInStep,
  phone: string,
): string | string[] | undefined {
  const own = issued.filter((one) => one.phone === phone).map(({ challenge }) => challenge);
  if (own[0] === null) return undefined;
  const known = own.filter((challenge) => challenge !== null);
  return known.length > 1 ? known : known[0];
}

/** Returns the newest challenge; null if it was lost, or there is none. */
export function newestChallenge({ issued }: SignInStep, phone: string): string | null {
  return issued.find((one) => one.phone === phone)?.challenge ?? null;
}

const isYoung = ({ at }: Asked, now: number) => at === null || now - at < codeLifetimeMs;

/** `now`: the server's ms. */
export function hasCode({ issued }: SignInStep, phone: string, now: number): boolean {
  return issued.some((one) => one.phone === phone && isYoung(one, now));
}

/** What leads from the number to the step that follows, while it holds. `now`: the server's ms. */
export function laterStep(kept: SignInStep, now: number): Partial<SignInStep> {
  if (kept.linkCode !== null) return { step: 'contact' };
  if (hasCode(kept, kept.phone, now)) return { step: 'code' };
  const other = kept.issued.find((one) => isYoung(one, now));
  return other ? { step: 'code', phone: other.phone } : {};
}

const PhoneChange = v.object({ phone: v.string(), challenge: v.string(), at: v.number() });

/** `at`: the server's ms. */
export type PhoneChange = v.InferOutput<typeof PhoneChange>;

/** Reads a stored change; null if its code is too old. */
export function readPhoneChange(stored: unknown, now: number): PhoneChange | null {
  const read = v.safeParse(PhoneChange, stored);
  return read.success && now - read.output.at < codeLifetimeMs ? read.output : null;
}

/** `endsAt`: ms, 0 without a wait. */
const Lockout = v.object({ failures: v.number(), endsAt: v.number() });
export type LockoutState = v.InferOutput<typeof Lockout>;

const maxFailures = 3;
const cooldownMs = 30_000;

/** Reads a stored lockout. The clock may have jumped, so a wait is at most a whole one. */
export function readLockout(stored: unknown, now: number): LockoutState {
  const read = v.safeParse(Lockout, stored);
  if (!read.success) return { failures: 0, endsAt: 0 };
  const { failures, endsAt } = read.output;
  return { failures, endsAt: Math.min(endsAt, now + cooldownMs) };
}

export function withFailure({ failures, endsAt }: LockoutState, now: number): LockoutState {
  if (failures + 1 < maxFailures) return { failures: failures + 1, endsAt };
  return { failures: 0, endsAt: now + cooldownMs };
}

export function secondsLeft({ endsAt }: LockoutState, now: number): number {
  return Math.ceil(Math.max(0, endsAt - now) / 1000);
}
