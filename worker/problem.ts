import type { Failure, ProblemName } from './contract/problems.ts';

type Details = { message?: string; issues?: Failure['issues']; retryAfter?: number; allow?: string };

/** A refusal that the caller is told: thrown anywhere, answered at the one error edge. */
export class Problem extends Error {
  readonly problem: ProblemName;
  readonly details: Details;

  constructor(problem: ProblemName, details: Details = {}) {
    super(problem);
    this.problem = problem;
    this.details = details;
  }
}

/** 429 until an instant (unix ms), told in whole seconds. */
export function rateLimited(freeAt: number, now: number): Problem {
  return new Problem('rateLimited', { retryAfter: Math.max(1, Math.ceil((freeAt - now) / 1000)) });
}
