import { problems, type Failure, type ProblemName } from './contract/problems.ts';

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

/** The JSON body, status and headers of a problem. */
export function problemResponse({ problem, details }: Problem, others: Record<string, string>): Response {
  const { status, code, message } = problems[problem];
  const body: Failure = { success: false, code, message: details.message ?? message };
  if (details.issues) body.issues = details.issues;
  const headers = { ...others };
  if (status === 401) headers['www-authenticate'] = 'Bearer';
  if (details.allow) headers['allow'] = details.allow;
  if (status === 503) headers['retry-after'] = String(details.retryAfter ?? 5);
  if (status === 429) headers['retry-after'] = String(details.retryAfter ?? 60);
  return Response.json(body, { status, headers });
}
