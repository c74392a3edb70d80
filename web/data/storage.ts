/** Local storage that does not throw if the browser blocks it. */
export const storage = {
  read: (key: string) => quietly(() => localStorage.getItem(key)),
  write: (key: string, value: string) => quietly(() => localStorage.setItem(key, value)),
  remove: (key: string) => quietly(() => localStorage.removeItem(key)),
};

function quietly<T>(action: () => T): T | null {
  try {
    return action();
  } catch {
    return null;
  }
}
