/** Calls the sandbox and returns its JSON; throws an Error with a readable message. */
export async function call(method, path, input) {
  const response = await fetch(path, {
    method,
    ...(input && { body: JSON.stringify(input), headers: { 'content-type': 'application/json' } }),
  });
  const body = await response.json();
  if (!response.ok) throw new Error(explain(body));
  return body;
}

function explain({ error, response }) {
  return response?.message ? `${error}: ${response.message}` : (error ?? 'That did not work.');
}
