import { RequestError } from '../lib/request-error.ts';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The body as strict UTF-8 text; throws 400 for anything that is not UTF-8. */
export async function readText(request: Request): Promise<string> {
  const bytes = await request.arrayBuffer();
  try {
    return decoder.decode(bytes);
  } catch {
    throw new RequestError('invalidBody');
  }
}
