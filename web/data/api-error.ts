import type { ErrorCode } from '#contract/errors';
import { errorWords } from '../words/session.ts';

/** Failures that the page notices by itself, before or instead of a response. */
export type LocalErrorCode = 'network' | 'token_missing' | 'token_expired' | 'session_replaced';

type Details = {
  /** The sentence for the person; the error's own message unless given, null where nothing is shown. */
  notice?: string | null;
  status?: number | undefined;
  code?: ErrorCode | LocalErrorCode | undefined;
  isNotified?: boolean;
};

/** A failed call. `isNotified` is true once a notice has been shown, or where none must be shown. */
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

  /** The server was out of reach or failed, so that the same call may succeed later. */
  get isOutage(): boolean {
    return this.code === 'network' || (this.status !== null && this.status >= 500);
  }
}

/** The session of a call has ended or been replaced meanwhile. The page has followed, so nothing is shown. */
export const sessionReplaced = (): ApiError =>
  new ApiError(errorWords.noToken, { code: 'session_replaced', isNotified: true });
