import type { ErrorCode } from '#contract/errors';
import { errorWords } from '../words/session.ts';

/** Errors that the page detects itself, before or instead of a response. */
export type LocalErrorCode = 'network' | 'token_missing' | 'token_expired' | 'session_replaced';

type Details = {
  /** The sentence for the user; by default the error's message, null to show nothing. */
  notice?: string | null;
  status?: number | undefined;
  code?: ErrorCode | LocalErrorCode | undefined;
  isNotified?: boolean;
};

/** A failed call. `isNotified` is true after a notice was shown, or if none must be. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly notice: string | null;
  readonly status: number | null;
  readonly code: ErrorCode | LocalErrorCode | null;
  isNotified: boolean;

  constructor(message: string, { notice = message, status, code, isNotified = false }: Details = {}) {
    super(message);
    this.notice = notice;
    this.status = status ?? null;
    this.code = code ?? null;
    this.isNotified = isNotified;
  }

  /** The server was unreachable or failed, so the same call may succeed later. */
  get isOutage(): boolean {
    return this.code === 'network' || (this.status !== null && this.status >= 500);
  }
}

/** The session of a call has ended or was replaced meanwhile. The page has changed already, so nothing is shown. */
export const sessionReplaced = (): ApiError =>
  new ApiError(errorWords.noToken, { code: 'session_replaced', isNotified: true });
