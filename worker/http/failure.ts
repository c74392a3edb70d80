import { problems, type Failure, type ProblemName } from '../contract/problems.ts';
import type { Traffic } from '../db.ts';
import { Problem } from '../problem.ts';
import { jsonAnswer } from './respond.ts';

/** A failure as a problem: what is on the list is told, what surprises us is `internal` and told to the log alone. */
export function problemOf(error: unknown, traffic: Traffic): Problem {
  if (error instanceof Problem) return error;
  return new Problem(traffic.unreachable ? 'unavailable' : 'internal');
}

/** Where a surprise came from, without its message: messages of database errors carry the parameters. */
export function surpriseOf(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error };
  const { cause } = error;
  return {
    error: error.name,
    code: (error as { code?: unknown }).code ?? (cause as { code?: unknown } | undefined)?.code,
    at: error.stack
      ?.split('\n')
      .filter((line) => /^\s+at /.test(line))
      .slice(0, 6)
      .map((line) => line.trim()),
  };
}

/** The stable code of a problem. */
export function codeOf(problem: ProblemName): string {
  return problems[problem].code;
}

/** What the caller is told: the JSON body, status and headers of a problem. */
export function problemAnswer({ problem, details }: Problem, others: Record<string, string>): Response {
  const { status, code, message } = problems[problem];
  const body: Failure = { success: false, code, message: details.message ?? message };
  if (details.issues) body.issues = details.issues;
  const own = { ...others };
  if (status === 401) own['www-authenticate'] = 'Bearer';
  if (details.allow) own['allow'] = details.allow;
  if (status === 503) own['retry-after'] = String(details.retryAfter ?? 5);
  if (status === 429) own['retry-after'] = String(details.retryAfter ?? 60);
  return jsonAnswer(body, own, status);
}
