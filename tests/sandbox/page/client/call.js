/** Calls the sandbox and returns its JSON; throws an Error with a readable message. */
export async function call(method, path, input) {
  const response = await fetch(path, {
    method,
    ...(input && { body: JSON.stringify(input), headers: { 'content-type': 'application/json' } }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(explain(answer));
  return answer;
}

function explain({ error, answer }) {
  return answer?.message ? `${error}: ${answer.message}` : (error ?? 'That did not work.');
}
