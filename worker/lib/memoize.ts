/** Keeps the `most` recently used results in the isolate. */
export function memoize<Key, Made>(make: (key: Key) => Made, most = 10): (key: Key) => Made {
  const results = new Map<Key, { made: Made }>();
  return (key) => {
    const result = results.get(key) ?? { made: make(key) };
    results.delete(key);
    results.set(key, result);
    if (results.size > most) results.delete(results.keys().next().value!);
    return result.made;
  };
}
