const span = 1_000_000;
const unbiasedBelow = Math.floor(2 ** 32 / span) * span;

/** Six random digits, each code as likely as any other. */
export function newCode(): string {
  const number = crypto.getRandomValues(new Uint32Array(1))[0]!;
  return number < unbiasedBelow ? String(number % span).padStart(6, '0') : newCode();
}
