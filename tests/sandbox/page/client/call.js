/** Calls the sandbox and answers its JSON; a refusal becomes an Error with a sentence for people. */
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
