const localNames = ['localhost', '127.0.0.1', '::1'];
const proxyNames = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'];

type Environment = Record<string, string | undefined>;

/** The message of a failed query holds numbers of people. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!error.message.startsWith('Failed query')) return error.message;

  const root = rootOf(error);
  if (root === error) return 'The database did not answer.';
  const code = 'code' in root ? ` (${String(root.code)})` : '';
  return `The database did not answer: ${withoutNumbers(root.message)}${code}`;
}

function rootOf(error: Error): Error {
  return error.cause instanceof Error ? rootOf(error.cause) : error;
}

const withoutNumbers = (text: string) => text.replaceAll(/\+?\d{7,15}/g, '…');

/** Null if no proxy takes the local calls. */
export function proxyHint(environment: Environment): string | null {
  const value = (name: string) => environment[name] || environment[name.toLowerCase()];
  const proxy = proxyNames.find(value);
  if (!proxy) return null;

  const exempt = (value('NO_PROXY') ?? '').split(/[\s,]+/);
  const missing = localNames.filter((name) => !exempt.includes(name));
  if (exempt.includes('*') || missing.length === 0) return null;

  const all = [...exempt.filter(Boolean), ...missing].join(',');
  return [
    `${proxy} is set, and NO_PROXY leaves out ${missing.join(', ')}:`,
    'calls of the local services may go to the proxy.',
    `Run \`export NO_PROXY=${all}\` and try again.`,
  ].join(' ');
}
