export type SendFailure = 'unreachable' | 'slow';

/** Sends a call. With `keepalive` it outlives the page, with at most 64 KiB for all such calls. */
export function fetchInTime(
  address: string,
  limitMs: number,
  { signal, ...request }: RequestInit = {},
): Promise<Response | SendFailure> {
  const abort = new AbortController();
  signal?.addEventListener('abort', () => abort.abort());
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      resolve('slow');
      abort.abort();
    }, limitMs);
    void load(address, { ...request, signal: abort.signal })
      .then(resolve, () => resolve('unreachable'))
      .then(() => clearTimeout(timer));
  });
}

async function load(address: string, request: RequestInit): Promise<Response> {
  const response = await fetch(address, request);
  const body = await response.blob();
  return new Response(body.size > 0 ? body : null, response);
}
