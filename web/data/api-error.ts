import type { ErrorCode } from '#contract/errors';
import { errorWords } from '#words/page-errors';
import type { SendFailure } from './fetch-in-time.ts';

export type LocalErrorCode =
  | 'network'
  | 'slow'
  | 'file_missing'
  | 'token_missing'
  | 'token_expired'
  | 'session_replaced'
  /** The number may have a new owner, so a code does not help. */
  | 'new_owner';

type Details = {
  /** The text of the toast, by default the error's message. Null shows none. */
  toast?: string | null;
  status?: number | undefined;
  code?: ErrorCode | LocalErrorCode | undefined;
  isNotified?: boolean;
  until?: string | null;
  linkCode?: string | undefined;
};

/** A failed call. `isNotified` says that a toast was shown, or that none must be. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly toast: string | null;
  readonly status: number | null;
  readonly code: ErrorCode | LocalErrorCode | null;
  /** The time from which the call may succeed (ISO 8601). */
  readonly until: string | null;
  /** The person sends it to the assistant from this number to get a code. */
  readonly linkCode: string | undefined;
  isNotified: boolean;

  constructor(
    message: string,
    { toast = message, status, code, isNotified = false, until = null, linkCode }: Details = {},
  ) {
    super(message);
    this.toast = toast;
    this.status = status ?? null;
    this.code = code ?? null;
    this.until = until;
    this.linkCode = linkCode;
    this.isNotified = isNotified;
  }

  /** Says how the call failed; null for an error of the page itself, such as a replaced session. */
  get kind(): 'unreachable' | 'slow' | 'refused' | 'ours' | null {
    if (this.code === 'network' || this.code === 'file_missing') return 'unreachable';
    if (this.code === 'slow') return 'slow';
    if (this.status === null) return null;
    return this.status >= 500 ? 'ours' : 'refused';
  }

  /** Whether an outage, not a refusal, ended the call: the server may have carried it out. */
  get isOutage(): boolean {
    return this.kind !== null && this.kind !== 'refused';
  }
}

export const sendFailed = (failure: SendFailure): ApiError =>
  failure === 'slow'
    ? new ApiError(errorWords.slow, { code: 'slow' })
    : new ApiError(errorWords.network, { code: 'network' });

/** Browsers wait for a lost file, or remember that it failed: only a reload brings it. */
export const fileMissing = (): ApiError =>
  new ApiError(errorWords.network, { code: 'file_missing' });

/** Makes an error that shows nothing, since the page has changed already. */
export const sessionReplaced = (): ApiError =>
  new ApiError(errorWords.noToken, { code: 'session_replaced', isNotified: true });

/** A session ends by this code. Status 401 does not say so: wrong codes and some networks respond with it. */
export const sessionEnded = 'unauthenticated' satisfies ErrorCode;

/** Notes that the page has shown this error, so that no toast repeats it. */
export function markNotified(error: unknown): void {
  if (error instanceof ApiError) error.isNotified = true;
}
