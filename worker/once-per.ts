/** Makes something once for each key and keeps it as long as the key lives. */
export function oncePer<Key extends object, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const known = new WeakMap<Key, { made: Made }>();
  return (key) => {
    const kept = known.get(key) ?? { made: make(key) };
    known.set(key, kept);
    return kept.made;
  };
}
