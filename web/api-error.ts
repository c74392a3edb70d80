/** A call that failed. `notice` is the sentence for the person; `told` once somebody has shown it. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly notice: string | null;
  readonly status: number | null;
  readonly code: string | null;
  told: boolean;

  constructor(message: string, facts: { notice?: string | null; status?: number; code?: string; told?: boolean } = {}) {
    super(message);
    this.notice = facts.notice === undefined ? message : facts.notice;
    this.status = facts.status ?? null;
    this.code = facts.code ?? null;
    this.told = facts.told ?? false;
  }

  /** No answer came at all. */
  get isNetwork(): boolean {
    return this.status === null && this.code === 'network';
  }
}
