import lighthouse from 'lighthouse';

/** `simulate` estimates the times of a slow phone; `devtools` throttles this browser and measures. */
export type Throttling = 'simulate' | 'devtools';

export type Category = 'performance' | 'accessibility' | 'best-practices' | 'seo';

/** Scores of 0 to 100; paints and blocking in ms; the layout shift has no unit. */
export type Audit = {
  scores: Record<Category, number>;
  firstPaint: number;
  largestPaint: number;
  blocked: number;
  shift: number;
  /** The audits that reduced a score. */
  failed: string[];
};

/** One page load of a phone with an empty cache, in the browser on `port`; repeated if it was not recorded. */
export async function audit(
  url: string,
  port: number,
  throttling: Throttling,
  only: Category[],
  tries = 3,
): Promise<Audit> {
  const result = await lighthouse(url, {
    port,
    throttlingMethod: throttling,
    onlyCategories: only,
    logLevel: 'error',
    output: 'json',
  });
  if (!result) throw new Error(`Lighthouse gave no result for ${url}.`);
  const { audits, categories, runtimeError } = result.lhr;
  if (runtimeError && tries > 1) return audit(url, port, throttling, only, tries - 1);
  if (runtimeError) throw new Error(`${url}: ${runtimeError.message}`);
  const value = (id: string) => audits[id]?.numericValue ?? NaN;
  const scores = Object.fromEntries(only.map((name) => [name, Math.round((categories[name]?.score ?? 0) * 100)]));
  const weighed = Object.values(categories).flatMap(({ auditRefs }) => auditRefs.filter(({ weight }) => weight > 0));
  return {
    scores: scores as Audit['scores'],
    firstPaint: value('first-contentful-paint'),
    largestPaint: value('largest-contentful-paint'),
    blocked: value('total-blocking-time'),
    shift: value('cumulative-layout-shift'),
    failed: weighed.map(({ id }) => id).filter((id) => (audits[id]?.score ?? 1) < 0.9),
  };
}
